// The maximum of a contiguous run of elements of X. Several invocations read quads of four words in turn:
//
//   words of X   |. . a a|a a a a|a a a a|a a a a|a a . .|      a: the run, which may begin and end within four words
//   invocation       0       1       2       0       1          of three
//
// An invocation has four loads in flight. Each of the four loads has its own accumulator, which receives its elements
// in order.
// provides: run
// requires: pool, Acc, identity, combine_anywhere, load_quad, QUAD, last_word, accumulate, accumulate_some
// The maximum of the elements that invocation `member` of `members` reads, from position `begin` up to, not including,
// `end`. `end` must be greater than `begin`.
fn run(begin: u32, end: u32, member: u32, members: u32) -> Acc {
  let first = begin - pool.x_first;
  let count = end - begin;
  let last = last_word(first + count);
  let last_quad = (first + count - 1u) / QUAD;
  var a = identity(first);
  var b = a;
  var c = a;
  var d = a;
  var quad = first / QUAD + member;
  if (quad + 8u * members <= last_quad) {
    // Only the first four words and the last four may have elements outside the run.
    a = accumulate_some(a, load_quad(quad, last), quad * QUAD, first, count);
    quad += members;
    for (; quad + 3u * members < last_quad; quad += 4u * members) {
      let quad_b = quad + members;
      let quad_c = quad_b + members;
      let quad_d = quad_c + members;
      let of_a = load_quad(quad, last);
      let of_b = load_quad(quad_b, last);
      let of_c = load_quad(quad_c, last);
      let of_d = load_quad(quad_d, last);
      a = accumulate(a, of_a, quad * QUAD);
      b = accumulate(b, of_b, quad_b * QUAD);
      c = accumulate(c, of_c, quad_c * QUAD);
      d = accumulate(d, of_d, quad_d * QUAD);
    }
  }
  for (; quad <= last_quad; quad += 4u * members) {
    // Reading an element twice does not change the maximum.
    let quad_b = min(quad + members, last_quad);
    let quad_c = min(quad_b + members, last_quad);
    let quad_d = min(quad_c + members, last_quad);
    let of_a = load_quad(quad, last);
    let of_b = load_quad(quad_b, last);
    let of_c = load_quad(quad_c, last);
    let of_d = load_quad(quad_d, last);
    a = accumulate_some(a, of_a, quad * QUAD, first, count);
    b = accumulate_some(b, of_b, quad_b * QUAD, first, count);
    c = accumulate_some(c, of_c, quad_c * QUAD, first, count);
    d = accumulate_some(d, of_d, quad_d * QUAD, first, count);
  }
  var best = combine_anywhere(combine_anywhere(a, b), combine_anywhere(c, d));
  best.at += pool.x_first;
  return best;
}
