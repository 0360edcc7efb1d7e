// Converts indices from one convention to another. -1 stays -1. An index outside the unit (the range of valid indices)
// becomes -1 and is reported. So does an index into a plane other than its own, if the second convention cannot name
// other planes.
// Fewest bytes: the indices once each way.
// provides: main
// requires: convert, invocation, WORKGROUP, report, read_index, store_index, add, multiply, divide
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, convert.grid_width, local);
  if (number >= convert.count) {
    return;
  }
  var rest = convert.rank_first + number;
  var at = 0u;
  var to = 0u;
  var n = 0u;
  var c = 0u;
  for (var i = 0u; i < convert.place_digits; i++) {
    let digit = convert.place[i];
    let value = rest % digit.radix;
    rest = rest / digit.radix;
    at += value * digit.from_stride;
    to += value * digit.to_stride;
    if (digit.coordinate == 3u) {
      c = value;
    } else if (digit.coordinate == 4u) {
      n = value;
    }
  }
  let minus_one = vec2<u32>(0xffffffffu, 0xffffffffu);
  let index = read_index(at - convert.from_first);
  if (all(index == minus_one)) {
    store_index(to - convert.to_first, minus_one);
    return;
  }
  var good = index.y < convert.unit.y || (index.y == convert.unit.y && index.x < convert.unit.x);
  var converted = add(multiply(convert.own_n, n), multiply(convert.own_c, c));
  var left = index;
  for (var i = 0u; i < convert.digits && good; i++) {
    let digit = convert.index[i];
    let parts = divide(left, digit.radix);
    left = parts.quotient;
    converted = add(converted, multiply(digit.stride, parts.remainder));
    if (digit.coordinate == 3u && convert.names_c == 0u && parts.remainder != c) {
      good = false;
    }
    if (digit.coordinate == 4u && convert.names_n == 0u && parts.remainder != n) {
      good = false;
    }
  }
  if (!good) {
    converted = minus_one;
    atomicAdd(&report[REPORT_COUNT], 1u);
    atomicMax(&report[REPORT_FIRST], ~at);
  }
  store_index(to - convert.to_first, converted);
}
