// The maximum of a contiguous run of elements of X. Several invocations read quads of four words in turn:
//
//   words of X   |. . a a|a a a a|a a a a|a a a a|a a . .|      a: the run, which may begin and end within four words
//   invocation       0       1       2       0       1          of three
//
// An invocation has four loads in flight. It keeps the best quad, as an accumulator whose place is the quad's number,
// and looks for the element in it at the end.
// provides: run
// requires: pool, Acc, LAST_RAW, identity, combine, load_quad, QUAD, last_word, accumulate_some
// The better one of the best quad so far and of quad number `quad`, of which `count` elements from `first` on count.
fn better_quad(best: Acc, quad: u32, words: vec4<u32>, first: u32, count: u32) -> Acc {
  let one = accumulate_some(identity(0u), words, 0u, first, count);
  return combine(best, Acc(one.key, LAST_RAW, quad));
}

// The maximum of the elements that invocation `member` of `members` reads, from position `begin` up to, not including,
// `end`. `end` must be greater than `begin`. An invocation that reads none gives an element of the first quad, which is
// as valid a candidate as any other.
fn run(begin: u32, end: u32, member: u32, members: u32) -> Acc {
  let first = begin - pool.x_first;
  let count = end - begin;
  let last = last_word(first + count);
  var best = identity(first / QUAD);
  var quad = best.at;
  // Only the first four words and the last four may have elements outside the run.
  if (first % QUAD != 0u) {
    best = better_quad(best, quad, load_quad(quad, last), first % QUAD, count);
    quad++;
  }
  quad += member;
  for (; quad + 3u * members < (first + count) / QUAD; quad += 4u * members) {
    let quad_b = quad + members;
    let quad_c = quad_b + members;
    let quad_d = quad_c + members;
    let of_a = load_quad(quad, last);
    let of_b = load_quad(quad_b, last);
    let of_c = load_quad(quad_c, last);
    let of_d = load_quad(quad_d, last);
    best = better_quad(best, quad, of_a, 0u, QUAD);
    best = better_quad(best, quad_b, of_b, 0u, QUAD);
    best = better_quad(best, quad_c, of_c, 0u, QUAD);
    best = better_quad(best, quad_d, of_d, 0u, QUAD);
  }
  for (; quad * QUAD < first + count; quad += members) {
    best = better_quad(best, quad, load_quad(quad, last), first - quad * QUAD, count);
  }
  best = accumulate_some(identity(first), load_quad(best.at, last), best.at * QUAD, first, count);
  best.at += pool.x_first;
  return best;
}
