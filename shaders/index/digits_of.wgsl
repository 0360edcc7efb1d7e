// A number taken apart by a radix: the digit, and what remains. One division is dear enough.
// provides: Digits, digits_of
// requires: nothing
struct Digits {
  digit: u32,
  rest: u32,
}

fn digits_of(number: u32, radix: u32) -> Digits {
  let rest = number / radix;
  return Digits(number - rest * radix, rest);
}
