// First step of a gathering unpool: tells of the indices that lie outside their sources' windows.
// Fewest bytes: the indices once.
// provides: main
// requires: gather, flat, quotient, in_window, invocation, WORKGROUP, tell_outside, names, SKIPS_FIRST
fn is_own(index: u32, n: u32, c: u32, at: vec3<u32>) -> bool {
  let inside = index < gather.index_limit;
  var all_own = inside;
  var rest = index;
  for (var i = 0u; i < select(0u, gather.digits, inside); i++) {
    let digit = gather.index[i];
    let over = quotient(rest, digit.radix);
    let value = rest - over * digit.radix.divisor;
    rest = over;
    var own = false;
    switch digit.coordinate {
      case 0u: { own = in_window(gather.windows[0], at.x, value); }
      case 1u: { own = in_window(gather.windows[1], at.y, value); }
      case 2u: { own = in_window(gather.windows[2], at.z, value); }
      case 3u: { own = value == c; }
      default: { own = value == n; }
    }
    all_own = all_own && own;
  }
  return all_own;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, gather.grid_width, local);
  if (number >= gather.sources) {
    return;
  }
  let inner = number % gather.inner;
  var rest = number / gather.inner;
  var at = vec3<u32>();
  at.z = rest % gather.windows[2].output;
  rest = rest / gather.windows[2].output;
  at.y = rest % gather.windows[1].output;
  rest = rest / gather.windows[1].output;
  at.x = rest % gather.windows[0].output;
  let outer = rest / gather.windows[0].output;
  let n = outer / gather.outer_channels;
  let c = outer % gather.outer_channels + inner;
  let position = flat(gather.stored, n, c, at);
  let read = names(position, 0u, position);
  var skipped = read.minus_one.x && gather.skip_minus_one == 1u;
  if (SKIPS_FIRST == 1u) {
    skipped = skipped || read.place.x == flat(gather.value, n, c, vec3<u32>());
  }
  tell_outside(vec4<bool>(!skipped && !is_own(read.place.x, n, c, at), false, false, false), position, 1u);
}
