//! Multiples of a number, told from others without a division.

/// The multiples of a number, told from others without a division: the product of a multiple with the inverse of the
/// number's odd factor is its quotient, and what is not a multiple becomes a greater number (Granlund and Montgomery,
/// 1994).
pub(super) struct Multiples {
    inverse: u32,
    twos: u32,
    most: u32,
}

impl Multiples {
    pub fn of(number: u32) -> Multiples {
        let number = number.max(1);
        let twos = number.trailing_zeros();
        let odd = number >> twos;
        // Each step doubles the number of right bits, of which there are three at first.
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
            let multiples = Multiples::of(number);
            let far = (u32::MAX / number).wrapping_mul(number);
            for tried in (0..3000).chain(far.saturating_sub(3000)..=far).chain([u32::MAX - 1, u32::MAX]) {
                assert_eq!(multiples.has(tried), tried % number == 0, "{tried} of {number}");
            }
        }
    }
}
