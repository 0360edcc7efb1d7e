//! The report of an unpool, as the device writes it.

use wgpu_pooling_plan::{ExecuteError, Plan};

/// What an unpool reports about bad indices: the contents of the buffer
/// [`Operand::Report`](crate::Operand::Report).
///
/// The library's own calls read it themselves. A program that encodes into its own pass, or runs a schedule on its own,
/// reads the buffer back and asks [`check`](Report::check).
///
/// ```
/// use wgpu_pooling::{DType, ExecuteError, IndexType, MaxUnpool, Report};
///
/// let plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 1], DType::F32, IndexType::I64)?;
/// assert_eq!(Report::from([0; 8]).check(&plan), Ok(()));
/// // One bad index, the first one at position 0, with the value 7.
/// let bad = Report::from([1, !0, 7, 0, 0, 0, 0, 0]);
/// let expected = ExecuteError::IndexOutOfRange { position: 0, value: 7, index_count: 2, count: 1 };
/// assert_eq!(bad.check(&plan), Err(expected));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Report {
    words: [u32; Report::WORDS],
}

impl Report {
    /// The words of a report (`REPORT_WORDS` in shaders/core/report.wgsl).
    pub(crate) const WORDS: usize = 8;

    /// The bytes of a report.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, IndexType, Limits, MaxUnpool, Operand, Report};
    ///
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64)?;
    /// let schedule = select(&plan, &Limits::WEBGPU, &Choice::default())?;
    /// assert_eq!(schedule.operand_bytes(Operand::Report), Some(Report::BYTES));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub const BYTES: u64 = 4 * Report::WORDS as u64;

    /// The report in the bytes that were read back, in the byte order of this machine; `None` if they are not
    /// [`BYTES`](Report::BYTES) bytes.
    ///
    /// ```
    /// use wgpu_pooling::Report;
    /// assert_eq!(Report::from_bytes(&[0; 32]), Some(Report::default()));
    /// assert_eq!(Report::from_bytes(&[0; 31]), None);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Option<Report> {
        let words = bytemuck::try_pod_read_unaligned(bytes).ok()?;
        Some(Report { words })
    }

    /// Whether the indices that the plan's unpool read were good. If some were bad, Y still has the values of the good
    /// ones.
    ///
    /// # Errors
    /// [`ExecuteError::IndexOutOfRange`] or [`ExecuteError::IndexOutsideWindow`] if there were bad indices;
    /// [`ExecuteError::OperatorMismatch`] if the plan is a pool, which has no report.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, Report};
    ///
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64)?;
    /// let error = Report::from([3, !2, 99, 0, 0, 0, 0, 0]).check(&plan).unwrap_err();
    /// assert_eq!(error.to_string(), "indices[2] is 99, outside the valid range [0, 5); 3 such indices in all");
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn check(&self, plan: &Plan) -> Result<(), ExecuteError> {
        // A pool accepts any data and has no report.
        let Plan::Unpool(plan) = plan else {
            return Err(ExecuteError::OperatorMismatch { planned: "pool", called: "report" });
        };
        let [count, first, low, high, ..] = self.words;
        // A count over many runs may wrap to zero, but no position is the complement of zero.
        if count == 0 && first == 0 {
            return Ok(());
        }
        // The position of the first bad index is stored complemented, so that zero means that there is none.
        let (position, count) = (u64::from(!first), u64::from(count));
        let value = (u64::from(high) << 32 | u64::from(low)) as i64;
        Err(plan.bad_index_error(position, value, count))
    }
}

impl From<[u32; Report::WORDS]> for Report {
    fn from(words: [u32; Report::WORDS]) -> Report {
        Report { words }
    }
}

impl From<&[u32; Report::WORDS]> for Report {
    fn from(words: &[u32; Report::WORDS]) -> Report {
        Report { words: *words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, IndexType, MaxUnpool, OutsideWindow};

    #[test]
    fn a_count_that_has_wrapped_to_zero_hides_no_fault() {
        let unpool = MaxUnpool::new([2]).strides([2]).outside_window(OutsideWindow::Error);
        let plan = unpool.plan(&[1, 1, 9], DType::F32, IndexType::I64).unwrap();
        assert_eq!(Report::from([0; 8]).check(&plan), Ok(()));
        let wrapped = Report::from([0, !5, 0, 0, 0, 0, 0, 0]).check(&plan);
        assert_eq!(wrapped, Err(ExecuteError::IndexOutsideWindow { position: 5, count: 0 }));
    }
}
