//! The Rust twins of the shaders' uniform structs. A test compares the names, offsets and sizes of their members.

use bytemuck::{Pod, Zeroable};

/// Declares a twin: a plain-old-data struct that knows its members' names, offsets and sizes.
macro_rules! uniform {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
        pub(crate) struct $name {
            $(pub $field: $type),+
        }

        #[cfg(test)]
        impl $name {
            /// Name, offset and size of each member, in bytes.
            pub const MEMBERS: &'static [(&'static str, usize, usize)] =
                &[$((stringify!($field), core::mem::offset_of!($name, $field), size_of::<$type>())),+];
        }
    };
}

uniform! {
    /// One axis of a pass, or an original axis (shaders/window/windows.wgsl).
    Axis {
        input: u32,
        output: u32,
        kernel: u32,
        stride: u32,
        dilation: u32,
        pad_begin: i32,
        kind: u32,
        table: u32,
    }
}

uniform! {
    /// A digit of a mixed-radix number (shaders/core/pool.wgsl).
    Digit {
        radix: Divisor,
        stride: [u32; 2],
        reserved: [u32; 2],
    }
}

uniform! {
    /// The parameters of an activation (shaders/activation/parameters.wgsl).
    Activation {
        low_threshold: [u32; 2],
        low_value: [u32; 2],
        high_threshold: [u32; 2],
        high_value: [u32; 2],
        alpha: u32,
        beta: u32,
        reserved: [u32; 2],
    }
}

uniform! {
    /// Windows that slide along one axis (shaders/core/pool.wgsl).
    Slide {
        classes: Divisor,
        runs: Divisor,
        cells: Divisor,
        channels: Divisor,
        row: Divisor,
        pitch: Divisor,
        extent: u32,
        out_line: u32,
        out_inner: u32,
        out_first: u32,
        last_tap: u32,
        flag: u32,
        notes: u32,
        reserved: u32,
    }
}

/// Axes in a pool's uniform: three of the pass, then the original ones.
pub(crate) const AXES: usize = 3 + wgpu_pooling_plan::MAX_SPATIAL_AXES;
/// Digits of a position: N, C and the spatial axes.
pub(crate) const DIGITS: usize = 2 + wgpu_pooling_plan::MAX_SPATIAL_AXES;

uniform! {
    /// The uniform of every pooling kernel (shaders/core/pool.wgsl).
    Pool {
        outputs: u32,
        inner: u32,
        grid_width: u32,
        nan_policy: u32,
        empty_value: [u32; 2],
        lowest_value: [u32; 2],
        empty_index: [u32; 2],
        index_base: [u32; 2],
        empty_kind: u32,
        spatial_axes: u32,
        index_digits: u32,
        store_digits: u32,
        empty_digits: u32,
        channels_inner: u32,
        output_first: u32,
        x_first: u32,
        store_first: u32,
        in_first: u32,
        empty_base: [u32; 2],
        fresh: u32,
        blocks: u32,
        block_first: u32,
        channels: u32,
        index_outer: [u32; 2],
        index_channel: [u32; 2],
        outputs_of_channel: u32,
        reserved_1: u32,
        reserved_2: u32,
        reserved_3: u32,
        slide: Slide,
        tap_from: [u32; 4],
        tap_to: [u32; 4],
        activation: Activation,
        split: [Divisor; 4],
        axes: [Axis; AXES],
        index: [Digit; DIGITS],
        store: [Digit; DIGITS],
        empty: [Digit; DIGITS],
        spatial: [Digit; wgpu_pooling_plan::MAX_SPATIAL_AXES],
    }
}

uniform! {
    /// A digit of a source's rank (shaders/core/unpool.wgsl).
    SourceDigit {
        radix: Divisor,
        x_stride: u32,
        index_stride: u32,
        target_stride: u32,
        extent: u32,
    }
}

uniform! {
    /// A digit of an index (shaders/core/unpool.wgsl).
    TargetDigit {
        radix: Divisor,
        stride: u32,
        first: u32,
        step: u32,
        count: u32,
    }
}

uniform! {
    /// The uniform of every unpooling kernel (shaders/core/unpool.wgsl).
    Unpool {
        sources: u32,
        outputs: u32,
        grid_width: u32,
        index_limit: u32,
        skip_minus_one: u32,
        report: u32,
        source_first: u32,
        output_first: u32,
        x_first: u32,
        index_first: u32,
        index_count: u32,
        begins: u32,
        ends: u32,
        invocations: u32,
        channels: u32,
        base_n: u32,
        base_c: u32,
        reserved_0: u32,
        reserved_1: u32,
        reserved_2: u32,
        activation: Activation,
        source: [SourceDigit; DIGITS],
        targets: [TargetDigit; DIGITS],
    }
}

uniform! {
    /// The uniform of a difference (shaders/kernel/difference.wgsl).
    Difference {
        outputs: u32,
        grid_width: u32,
        reserved_0: u32,
        reserved_1: u32,
    }
}

uniform! {
    /// The stride of each coordinate (shaders/core/gather.wgsl).
    Strides {
        n: u32,
        c: u32,
        axis_0: u32,
        axis_1: u32,
        axis_2: u32,
        reserved_0: u32,
        reserved_1: u32,
        reserved_2: u32,
    }
}

uniform! {
    /// A digit of an index (shaders/core/gather.wgsl).
    CoordinateDigit {
        radix: Divisor,
        coordinate: u32,
        stride: u32,
        reserved_0: u32,
        reserved_1: u32,
    }
}

uniform! {
    /// A divisor, with the multiplier and shift by which shaders divide without a division instruction
    /// (shaders/core/quotient.wgsl).
    Divisor {
        divisor: u32,
        multiplier: u32,
        shift: u32,
        reserved: u32,
    }
}

impl Divisor {
    /// For dividends below 2^31.
    ///
    /// With d <= 2^shift, the multiplier m is the smallest integer above 2^(31 + shift) / d, so
    /// m * d = 2^(31 + shift) + e where 0 < e <= d <= 2^shift. For n = q * d + r the kernel computes the integer part
    /// of n * m / 2^(31 + shift), and n * m / 2^(31 + shift) = n / d + n * e / (d * 2^(31 + shift)), where the second
    /// term is below 1 / d since n < 2^31: not enough to reach the next integer from q + r / d. And m fits a word:
    /// d > 2^(shift - 1), so 2^(31 + shift) / d < 2^32, of which the integer part is 2^32 - 1 at most, and is that for
    /// no d: d * (2^32 - 1) <= 2^(31 + shift) would need d <= 2^(shift - 1).
    pub fn new(divisor: u64) -> Divisor {
        let divisor = divisor.clamp(1, 1 << 31) as u32;
        let shift = divisor.next_power_of_two().trailing_zeros();
        let multiplier = ((1u64 << (31 + shift)) / u64::from(divisor) + 1) as u32;
        Divisor { divisor, multiplier, shift, reserved: 0 }
    }
}

uniform! {
    /// The uniform of the gathering unpool (shaders/core/gather.wgsl).
    Gather {
        outputs: u32,
        sources: u32,
        grid_width: u32,
        inner: u32,
        outer_channels: u32,
        index_limit: u32,
        skip_minus_one: u32,
        digits: u32,
        blocks: u32,
        channels: u32,
        report: u32,
        own_n: u32,
        own_c: u32,
        reserved_0: u32,
        reserved_1: u32,
        reserved_2: u32,
        activation: Activation,
        covering: [Axis; 3],
        windows: [Axis; 3],
        value: Strides,
        stored: Strides,
        index: [CoordinateDigit; 5],
        split: [Divisor; 9],
    }
}

/// A 64-bit number as a shader has it: low word first.
pub(crate) fn pair(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The division of shaders/core/quotient.wgsl: the high word of a product, then a shift.
    fn quotient(number: u32, by: Divisor) -> u32 {
        ((u64::from(number << 1) * u64::from(by.multiplier)) >> 32) as u32 >> by.shift
    }

    /// The proof at `Divisor::new` covers every number. This tests where it would fail first: beside multiples, and at
    /// the largest number.
    #[test]
    fn divisors_divide_every_number_below_2_to_the_31() {
        let largest = (1u32 << 31) - 1;
        let near = |power: u32| [-2i64, -1, 0, 1, 2].map(|step| ((1i64 << power) + step) as u64);
        let divisors =
            (1..5_000u64).chain((12..31).flat_map(near)).chain((0..2_000).map(|step| 1_073_741_789 - step * 536_869));
        for divisor in divisors.filter(|divisor| (1..=1 << 31).contains(divisor)) {
            let by = Divisor::new(divisor);
            // The multiplier is that of the proof.
            let product = u128::from(by.multiplier) * u128::from(by.divisor);
            let power = 1u128 << (31 + by.shift);
            assert!(product > power && product <= power + (1 << by.shift), "{by:?}");
            let multiples = [1, 2, 3, u64::from(largest) / divisor, u64::from(largest) / divisor / 2];
            let beside =
                multiples.into_iter().flat_map(|times| [-1i64, 0, 1].map(|step| (times * divisor) as i64 + step));
            for number in
                beside.chain([0, i64::from(largest)]).filter(|number| (0..=i64::from(largest)).contains(number))
            {
                assert_eq!(u64::from(quotient(number as u32, by)), number as u64 / divisor, "{number} by {divisor}");
            }
        }
    }
}
