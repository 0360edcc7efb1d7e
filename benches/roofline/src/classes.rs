//! The classes of geometries by which a sweep is summarised. A geometry may belong to several classes.

use wgpu_pooling::{DType, Layout};

use crate::catalogue::{Operator, Row, Window};

/// A class of geometries.
pub struct Class {
    pub name: &'static str,
    pub has: fn(&Row, DType) -> bool,
}

/// Windows of more taps than this are large.
const LARGE: i64 = 64;
/// Windows of at most this many taps are small.
const SMALL: i64 = 9;

/// All classes. Every geometry belongs to the first one.
pub const CLASSES: &[Class] = &[
    Class { name: "all", has: |_, _| true },
    Class { name: "pool", has: |row, _| pools(row).is_some() },
    Class { name: "pool, no indices", has: |row, _| pools(row).is_some() && row.indices.is_none() },
    Class { name: "pool, indices", has: |row, _| pools(row).is_some() && row.indices.is_some() },
    Class { name: "pool, 1 to 9 taps", has: |row, _| pools(row).is_some_and(|window| taps(window) <= SMALL) },
    Class {
        name: "pool, 10 to 64 taps",
        has: |row, _| pools(row).is_some_and(|window| (SMALL + 1..=LARGE).contains(&taps(window))),
    },
    Class { name: "pool, over 64 taps", has: |row, _| pools(row).is_some_and(|window| taps(window) > LARGE) },
    Class { name: "pool, stride 1", has: |row, _| pools(row).is_some_and(|window| !is_strided(window)) },
    Class { name: "pool, strided", has: |row, _| pools(row).is_some_and(is_strided) },
    Class { name: "pool, dilated", has: |row, _| pools(row).is_some_and(is_dilated) },
    Class { name: "global", has: |row, _| row.operator == Operator::GlobalMaxPool },
    Class { name: "adaptive", has: |row, _| matches!(row.operator, Operator::AdaptiveMaxPool { .. }) },
    Class { name: "unpool", has: |row, _| unpools(row).is_some() },
    Class { name: "unpool, windows apart", has: |row, _| unpools(row).is_some_and(|window| !overlaps(window)) },
    Class { name: "unpool, windows overlap", has: |row, _| unpools(row).is_some_and(overlaps) },
    Class { name: "1-D", has: |row, _| row.pooled.len() == 3 },
    Class { name: "2-D", has: |row, _| row.pooled.len() == 4 },
    Class { name: "3-D", has: |row, _| row.pooled.len() == 5 },
    Class { name: "NCHW", has: |row, _| row.layout == Layout::Nchw },
    Class { name: "NCHW, odd width", has: |row, _| row.layout == Layout::Nchw && is_odd(row.pooled.last()) },
    Class { name: "NHWC", has: |row, _| row.layout == Layout::Nhwc },
    Class { name: "NHWC, odd channels", has: |row, _| row.layout == Layout::Nhwc && is_odd(row.pooled.get(1)) },
    Class { name: "8-bit", has: |_, dtype| dtype.bytes() == 1 },
    Class { name: "16-bit", has: |_, dtype| dtype.bytes() == 2 },
    Class { name: "32-bit", has: |_, dtype| dtype.bytes() == 4 },
    Class { name: "64-bit", has: |_, dtype| dtype.bytes() == 8 },
];

/// The names of the classes that a geometry belongs to.
pub fn names(row: &Row, dtype: DType) -> Vec<&'static str> {
    CLASSES.iter().filter(|class| (class.has)(row, dtype)).map(|class| class.name).collect()
}

/// The window of a MaxPool.
fn pools(row: &Row) -> Option<&Window> {
    if let Operator::MaxPool(window) = &row.operator { Some(window) } else { None }
}

/// The window of a MaxUnpool.
fn unpools(row: &Row) -> Option<&Window> {
    if let Operator::MaxUnpool { window, .. } = &row.operator { Some(window) } else { None }
}

fn taps(window: &Window) -> i64 {
    window.kernel_shape.iter().product()
}

fn is_strided(window: &Window) -> bool {
    window.strides.iter().flatten().any(|&stride| stride > 1)
}

fn is_dilated(window: &Window) -> bool {
    window.dilations.iter().flatten().any(|&dilation| dilation > 1)
}

fn overlaps(window: &Window) -> bool {
    (0..window.kernel_shape.len()).any(|axis| window.reach(axis) > window.stride(axis))
}

fn is_odd(extent: Option<&usize>) -> bool {
    extent.is_some_and(|extent| extent % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{OWN, parse};

    #[test]
    fn rows_are_of_the_classes_that_their_names_say() {
        let rows = parse(OWN).unwrap();
        let of = |name: &str, dtype| names(rows.iter().find(|row| row.name == name).unwrap(), dtype);
        let stem = ["all", "pool", "pool, no indices", "pool, 1 to 9 taps", "pool, strided", "2-D", "NCHW", "16-bit"];
        assert_eq!(of("stem_3x3s2p1", DType::Bf16), stem);
        assert_eq!(of("dilate_31x31s1p15", DType::U8)[3..5], ["pool, over 64 taps", "pool, stride 1"]);
        assert_eq!(of("adaptive_3d", DType::F32), ["all", "adaptive", "3-D", "NCHW", "32-bit"]);
        assert_eq!(of("unpool_2x2s2", DType::I64)[1..3], ["unpool", "unpool, windows apart"]);
        assert_eq!(of("unpool_3x3s2p1", DType::I64)[1..3], ["unpool", "unpool, windows overlap"]);
        assert!(of("nhwc_2x2s2", DType::F32).contains(&"NHWC"));
        assert!(of("dilated_3x3d2", DType::F32).contains(&"pool, dilated"));
    }

    #[test]
    fn every_class_has_a_row_or_is_of_odd_extents() {
        let rows = parse(OWN).unwrap();
        for class in CLASSES.iter().filter(|class| !class.name.contains("odd")) {
            let has = |row| DType::ALL.into_iter().any(|dtype| (class.has)(row, dtype));
            assert!(rows.iter().any(has), "{}", class.name);
        }
    }
}
