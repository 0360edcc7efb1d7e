// Last dispatch of a gathering unpool whose indices may lie anywhere. If the dispatch before found an index outside its
// source's window, this one gives each claimed element the value of the last source that names it: the last that claims
// it, or the last whose window covers it, whose value is in Y already. It then clears the owners.
// Fewest bytes: next to none, or else all owners once, and for each claimed element its index, value and four bytes.
// provides: main
// requires: gather, flat, quotient, owners, ANY_OUTSIDE, rank_of, source_position, invocation, WORKGROUP, OUTPUTS, ZERO_WORD, insert, extract, y, load, read_index, write_report, activate, INNER, PLAIN, POSITIONS, SAME_PLACE, KERNEL_0, KERNEL_1, KERNEL_2, STRIDE_0, STRIDE_1, STRIDE_2, PAD_1, PAD_2
// The most windows that cover an element along each axis.
const COVERING_0: u32 = (KERNEL_0 + STRIDE_0 - 1u) / STRIDE_0;
const COVERING_1: u32 = (KERNEL_1 + STRIDE_1 - 1u) / STRIDE_1;
const COVERING_2: u32 = (KERNEL_2 + STRIDE_2 - 1u) / STRIDE_2;

// Words that an invocation looks at together.
const PER_TURN: u32 = 4u;

var<workgroup> any_outside: u32;

// The last of the sources whose windows cover an element and whose index names it: its position in X plus one, or zero.
fn last_source(output: u32) -> u32 {
  var inner = 0u;
  var rest = output;
  if (INNER == 1u) {
    rest = quotient(output, gather.split[7]);
    inner = output - rest * gather.split[7].divisor;
  }
  let row = quotient(rest, gather.split[1]);
  var inputs = vec3<u32>(gather.covering[0].input, gather.covering[1].input, gather.covering[2].input);
  var at = vec3<u32>(0u, row, rest - row * gather.split[1].divisor);
  var outer = 0u;
  if (PLAIN == 1u) {
    // Lines are numbered across planes, in X as in Y.
    inputs.y = row + 1u;
  } else {
    let plane = quotient(row, gather.split[5]);
    outer = quotient(plane, gather.split[6]);
    at.x = plane - outer * gather.split[6].divisor;
    at.y = row - plane * gather.split[5].divisor;
  }
  var own = output;
  var n = 0u;
  var c = 0u;
  if (POSITIONS == 0u || SAME_PLACE == 0u) {
    n = quotient(outer, gather.split[4]);
    c = outer - n * gather.split[4].divisor + inner;
  }
  if (POSITIONS == 0u) {
    own = flat(gather.value, n, c, at);
  }
  let tap = at + vec3<u32>(0u, PAD_1, PAD_2);
  let last = tap / vec3<u32>(STRIDE_0, STRIDE_1, STRIDE_2);
  var found = 0u;
  for (var i = 0u; i < COVERING_0 * COVERING_1 * COVERING_2; i++) { // unrolled
    let before = vec3<u32>(
      COVERING_0 - 1u - i / (COVERING_1 * COVERING_2),
      COVERING_1 - 1u - i / COVERING_2 % COVERING_1,
      COVERING_2 - 1u - i % COVERING_2);
    // Before the first source along an axis, the difference wraps to a number beyond the last one.
    let source = last - before;
    let offset = tap - source * vec3<u32>(STRIDE_0, STRIDE_1, STRIDE_2);
    if (all(source < inputs) && all(offset < vec3<u32>(KERNEL_0, KERNEL_1, KERNEL_2))) {
      var position = ((outer * inputs.x + source.x) * inputs.y + source.y) * inputs.z + source.z;
      if (INNER == 1u) {
        position = position * gather.channels + inner;
      }
      var index_position = position;
      if (SAME_PLACE == 0u) {
        index_position = flat(gather.stored, n, c, source);
      }
      if (all(read_index(index_position) == vec2<u32>(own, 0u))) {
        found = position + 1u;
      }
    }
  }
  return found;
}

// Which of the words from `base` on have an element with an owner: a bit for each.
fn claimed(base: u32) -> u32 {
  var found = 0u;
  for (var item = 0u; item < PER_TURN; item++) { // unrolled
    let first = (base + item * gather.blocks) * OUTPUTS;
    for (var lane = 0u; lane < OUTPUTS; lane++) { // unrolled
      if (first + lane < gather.outputs && atomicLoad(&owners.each[min(first + lane, gather.outputs - 1u)]) != 0u) {
        found |= 1u << item;
      }
    }
  }
  return found;
}

fn settle(word: u32) {
  let before = y[word];
  var packed = ZERO_WORD;
  for (var lane = 0u; lane < OUTPUTS; lane++) {
    let output = word * OUTPUTS + lane;
    var value = extract(before, lane);
    let owner = atomicLoad(&owners.each[min(output, gather.outputs - 1u)]);
    if (output < gather.outputs && owner != 0u) {
      atomicStore(&owners.each[output], 0u);
      let source = last_source(output);
      if (source == 0u || rank_of(source - 1u) < owner - 1u) {
        value = activate(load(source_position(owner - 1u)));
      }
    }
    packed = insert(packed, lane, value);
  }
  y[word] = packed;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, gather.grid_width, local);
  if (local == 0u) {
    any_outside = atomicLoad(&owners.any_outside);
  }
  if (workgroupUniformLoad(&any_outside) == 0u) {
    if (number == 0u) {
      write_report(0u, gather.sources, true, false);
    }
    return;
  }
  // `any_outside` is a flag plus the number of workgroups that have read it; the last one resets it.
  if (local == 0u && atomicAdd(&owners.any_outside, 1u) + 1u == ANY_OUTSIDE + gather.blocks / WORKGROUP) {
    write_report(0u, gather.sources, true, true);
    atomicStore(&owners.any_outside, 0u);
  }
  for (var base = number; base * OUTPUTS < gather.outputs; base += PER_TURN * gather.blocks) {
    var left = claimed(base);
    while (left != 0u) {
      settle(base + firstTrailingBit(left) * gather.blocks);
      left &= left - 1u;
    }
  }
}
