//! Tests whether a number is a multiple of another one without a division.

/// Tests numbers for being multiples of one number without a division. A multiple times the inverse of the number's odd
/// factor is the quotient, and any other number becomes greater than all quotients (Granlund and Montgomery, 1994).
pub(super) struct Multiples {
    inverse: u32,
    twos: u32,
    most: u32,
}

impl Multiples {
    pub fn new(number: u32) -> Multiples {
        let number = number.max(1);
        let twos = number.trailing_zeros();
        let odd = number >> twos;
        // Each step doubles the number of correct bits, which begins with three.
        let inverse = (0..4).fold(odd, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse))));
        Multiples { inverse, twos, most: u32::MAX / number }
    }

    #[inline(always)]
    pub fn has(&self, number: u32) -> bool {
        number.wrapping_mul(self.inverse).rotate_right(self.twos) <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_told_from_other_numbers() {
        for number in [1, 2, 3, 6, 7, 64, 96, 255, 1000, u32::MAX] {
            let multiples = Multiples::new(number);
            let far = (u32::MAX / number).wrapping_mul(number);
            for tried in (0..3000).chain(far.saturating_sub(3000)..=far).chain([u32::MAX - 1, u32::MAX]) {
                assert_eq!(multiples.has(tried), tried % number == 0, "{tried} of {number}");
            }
        }
    }
}
