//! The Rust twins of the shaders' uniform structs. A test compares names, offsets and sizes.

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
        radix: u32,
        reserved: u32,
        stride: [u32; 2],
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
        out_first: u32,
        classes: u32,
        segments: u32,
        runs: u32,
        last_tap: u32,
        inner_axes: u32,
        rows: u32,
        row_elements: u32,
        flag: u32,
        reserved_0: u32,
        reserved_1: u32,
        reserved_2: u32,
    }
}

/// Axes in a pool's uniform: three of the pass, then the original ones.
pub(crate) const AXES: usize = 3 + crate::plan::MAX_SPATIAL_AXES;
/// Digits of a position: N, C and the spatial axes.
pub(crate) const DIGITS: usize = 2 + crate::plan::MAX_SPATIAL_AXES;

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
        walk: u32,
        slide: Slide,
        tap_from: [u32; 4],
        tap_to: [u32; 4],
        activation: Activation,
        axes: [Axis; AXES],
        index: [Digit; DIGITS],
        store: [Digit; DIGITS],
        empty: [Digit; DIGITS],
        spatial: [Digit; crate::plan::MAX_SPATIAL_AXES],
    }
}

uniform! {
    /// A digit of a source's rank (shaders/core/unpool.wgsl).
    SourceDigit {
        radix: u32,
        x_stride: u32,
        index_stride: u32,
        target_stride: u32,
    }
}

uniform! {
    /// A digit of an index (shaders/core/unpool.wgsl).
    TargetDigit {
        radix: u32,
        stride: u32,
        reserved_0: u32,
        reserved_1: u32,
    }
}

uniform! {
    /// The uniform of every unpooling kernel (shaders/core/unpool.wgsl).
    Unpool {
        sources: u32,
        outputs: u32,
        grid_width: u32,
        unit: u32,
        skip_minus_one: u32,
        report: u32,
        source_digits: u32,
        target_digits: u32,
        source_first: u32,
        output_first: u32,
        x_first: u32,
        index_first: u32,
        index_count: u32,
        fresh: u32,
        begins: u32,
        reserved: u32,
        activation: Activation,
        source: [SourceDigit; DIGITS],
        targets: [TargetDigit; DIGITS],
    }
}

uniform! {
    /// What one step of each coordinate adds (shaders/core/stream.wgsl).
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
    /// A digit of an index (shaders/core/stream.wgsl).
    CoordinateDigit {
        radix: u32,
        coordinate: u32,
        reserved_0: u32,
        reserved_1: u32,
    }
}

uniform! {
    /// The uniform of the streaming unpool (shaders/core/stream.wgsl).
    Stream {
        outputs: u32,
        sources: u32,
        grid_width: u32,
        inner: u32,
        outer_channels: u32,
        unit: u32,
        skip_minus_one: u32,
        digits: u32,
        blocks: u32,
        reserved_0: u32,
        reserved_1: u32,
        reserved_2: u32,
        activation: Activation,
        holders: [Axis; 3],
        windows: [Axis; 3],
        value: Strides,
        stored: Strides,
        index: [CoordinateDigit; 5],
        grids: [[u32; 4]; 3],
    }
}

uniform! {
    /// A digit of an index's rank (shaders/core/convert.wgsl).
    PlaceDigit {
        radix: u32,
        from_stride: u32,
        to_stride: u32,
        coordinate: u32,
    }
}

uniform! {
    /// A digit of an index in the first convention (shaders/core/convert.wgsl).
    ConvertDigit {
        radix: u32,
        coordinate: u32,
        stride: [u32; 2],
    }
}

uniform! {
    /// The uniform of an index conversion (shaders/core/convert.wgsl).
    Convert {
        count: u32,
        grid_width: u32,
        place_digits: u32,
        digits: u32,
        unit: [u32; 2],
        names_n: u32,
        names_c: u32,
        own_n: [u32; 2],
        own_c: [u32; 2],
        rank_first: u32,
        from_first: u32,
        to_first: u32,
        from_count: u32,
        place: [PlaceDigit; DIGITS],
        index: [ConvertDigit; DIGITS],
    }
}

/// A 64-bit number as a shader has it: low word first.
pub(crate) fn pair(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}
