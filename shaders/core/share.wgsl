// An invocation's share of a window that a team reads.
// provides: TeamWindow, team_window, share
// requires: pool, Acc, TEAM

//// share_plane: An invocation's share of a window that is a whole plane of X, a contiguous run.
// requires: run
struct TeamWindow {
  // The position of the window's first element, valid if `seen`.
  first: u32,
  seen: bool,
}

fn team_window(output: u32) -> TeamWindow {
  return TeamWindow(output * pool.axes[2].input, true);
}

fn share(window: TeamWindow, member: u32) -> Acc {
  return run(window.first, window.first + pool.axes[2].input, member, TEAM);
}

//// share_candidates when CANDIDATES: An invocation's share of the candidates of a plane, which an earlier dispatch
// found in its parts. The stride of the pass is that of planes in X.
// requires: ZERO, identity, lift, combine_anywhere, element, from_pair, KEY_WORDS
@group(0) @binding(4) var<storage, read> candidates_in: array<vec2<u32>>;

// Loads in flight.
const TOGETHER: u32 = 8u;

struct TeamWindow {
  // The position of the window's first element, valid if `seen`.
  first: u32,
  seen: bool,
  // The first candidate in the binding.
  candidate: u32,
}

fn team_window(output: u32) -> TeamWindow {
  let axis = pool.axes[2];
  return TeamWindow(output * axis.stride, true, output * axis.input - pool.in_first);
}

// A candidate from its position and the first word of its key. A key of two words is computed again.
fn candidate_of(stored: vec2<u32>) -> Acc {
  var best = Acc(from_pair(stored.yx), ZERO, stored.x);
  if (KEY_WORDS > 1u) {
    best = lift(element(stored.x), stored.x);
  }
  return best;
}

fn share(window: TeamWindow, member: u32) -> Acc {
  let count = pool.axes[2].input;
  var best = identity(window.first);
  for (var number = member; number < count; number += TEAM * TOGETHER) {
    var loaded: array<vec2<u32>, TOGETHER>;
    for (var i = 0u; i < TOGETHER; i++) { // unrolled
      // Reading a candidate twice does not change the maximum.
      loaded[i] = candidates_in[window.candidate + min(number + i * TEAM, count - 1u)];
    }
    for (var i = 0u; i < TOGETHER; i++) { // unrolled
      best = combine_anywhere(best, candidate_of(loaded[i]));
    }
  }
  return best;
}

//// share_rows when known(ALONG): An invocation's share of a window of rows, which are read in quads of four words:
//
//   row 0   |. . a a|a a a a|a a a .|        a: the window
//   row 1   . .|a a a a|a a a a|a . . .|     a row may begin anywhere within four words
//              0       1       0             invocation of a group of ALONG = 2
//
// A team is TEAM / ALONG groups of ALONG invocations. The groups take four rows each in turn, and the invocations of a
// group take quads of these rows in turn. The loads of the four rows are in flight together. Each of the four rows has
// its own accumulator, which receives its elements in order.
// requires: output_windows, identity, combine_anywhere, load_quad, QUAD, last_word, accumulate_some, ALONG, DEEP
struct TeamWindow {
  // The position of the window's first element, valid if `seen`.
  first: u32,
  seen: bool,
  // The window's rows, the elements per row, and the stride of rows in X.
  rows: u32,
  count: u32,
  step: u32,
  // The rows per layer, and the stride of layers in X.
  layer: u32,
  layer_step: u32,
}

// A row, in the binding: its first element, its first and last quad, and its last word.
struct Row {
  first: u32,
  first_quad: u32,
  last_quad: u32,
  last_word: u32,
}

fn team_window(output: u32) -> TeamWindow {
  let at = output_windows(output);
  let height = pool.axes[1].input;
  let width = pool.axes[2].input;
  let layer = at.outer * pool.axes[0].input + at.window_0.first;
  let first = (layer * height + at.window_1.first) * width + at.window_2.first;
  let rows = at.window_0.count * at.window_1.count;
  let seen = (rows != 0u) & (at.window_2.count != 0u);
  let layer_step = at.window_0.step * height * width;
  return TeamWindow(first, seen, rows, at.window_2.count, at.window_1.step * width, at.window_1.count, layer_step);
}

fn row_of(window: TeamWindow, number: u32) -> Row {
  var first = window.first - pool.x_first + number * window.step;
  if (DEEP == 1u) {
    let layer = number / window.layer;
    first = window.first - pool.x_first + layer * window.layer_step + (number - layer * window.layer) * window.step;
  }
  let end = first + window.count;
  return Row(first, first / QUAD, (end - 1u) / QUAD, last_word(end));
}

fn larger(a: u32, b: u32) -> u32 {
  return select(a, b, b > a);
}

fn share(window: TeamWindow, member: u32) -> Acc {
  let rows = select(0u, window.rows, window.seen);
  var a = identity(window.first - pool.x_first);
  var b = a;
  var c = a;
  var d = a;
  for (var number = member / ALONG * 4u; number < rows; number += TEAM / ALONG * 4u) {
    // Reading an element twice does not change the maximum.
    let last = rows - 1u;
    let row_a = row_of(window, number);
    let row_b = row_of(window, min(number + 1u, last));
    let row_c = row_of(window, min(number + 2u, last));
    let row_d = row_of(window, min(number + 3u, last));
    // Rows that begin at different offsets within a quad may take one quad more.
    let quads_ab = larger(row_a.last_quad - row_a.first_quad, row_b.last_quad - row_b.first_quad);
    let quads_cd = larger(row_c.last_quad - row_c.first_quad, row_d.last_quad - row_d.first_quad);
    let quads = larger(quads_ab, quads_cd);
    for (var quad = member % ALONG; quad <= quads; quad += ALONG) {
      let quad_a = min(row_a.first_quad + quad, row_a.last_quad);
      let quad_b = min(row_b.first_quad + quad, row_b.last_quad);
      let quad_c = min(row_c.first_quad + quad, row_c.last_quad);
      let quad_d = min(row_d.first_quad + quad, row_d.last_quad);
      let of_a = load_quad(quad_a, row_a.last_word);
      let of_b = load_quad(quad_b, row_b.last_word);
      let of_c = load_quad(quad_c, row_c.last_word);
      let of_d = load_quad(quad_d, row_d.last_word);
      a = accumulate_some(a, of_a, quad_a * QUAD, row_a.first, window.count);
      b = accumulate_some(b, of_b, quad_b * QUAD, row_b.first, window.count);
      c = accumulate_some(c, of_c, quad_c * QUAD, row_c.first, window.count);
      d = accumulate_some(d, of_d, quad_d * QUAD, row_d.first, window.count);
    }
  }
  var best = combine_anywhere(combine_anywhere(a, b), combine_anywhere(c, d));
  best.at += pool.x_first;
  return best;
}
