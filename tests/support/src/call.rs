//! A plan with the bytes of its inputs, computed on any path and compared byte by byte.

use std::borrow::Cow;

use wgpu_pooling::{Backend, ExecuteError, Plan, Reference, TensorMut, TensorRef};

use crate::draw::elements::bytes_of;

/// The byte that outputs and what lies beside them are filled with.
const POISON: u8 = 0x5A;

/// What is computed, and its inputs.
#[derive(Debug, Clone)]
pub struct Call {
    pub plan: Plan,
    pub inputs: Vec<Vec<u8>>,
    /// The shapes of the inputs, if they are not the plan's.
    pub shapes: Option<Vec<Vec<usize>>>,
    /// How far into its memory each tensor begins. At an odd one elements of more than a byte are not aligned.
    pub offset: usize,
}

/// What a call wrote: the bytes of each output.
pub type Outcome = Result<Vec<Vec<u8>>, ExecuteError>;

impl Call {
    pub fn new(plan: Plan, inputs: Vec<Vec<u8>>) -> Call {
        Call { plan, inputs, shapes: None, offset: 0 }
    }

    /// A pool or a composition of elements that are given as bits.
    pub fn pool(plan: Plan, x: &[u64]) -> Call {
        let x = bytes_of(plan.inputs()[0].dtype, x);
        Call::new(plan, vec![x])
    }

    /// An unpool of elements that are given as bits.
    pub fn unpool(plan: Plan, x: &[u64], indices: &[i64]) -> Call {
        let indices: Vec<u64> = indices.iter().map(|&index| index as u64).collect();
        let [x, indices] = [(0, x), (1, &indices)].map(|(number, bits)| bytes_of(plan.inputs()[number].dtype, bits));
        Call::new(plan, vec![x, indices])
    }

    /// Whether there are all elements of the inputs.
    pub fn is_whole(&self) -> bool {
        let specs = self.plan.inputs().iter();
        specs.zip(&self.inputs).all(|(spec, input)| input.len() as u64 == spec.bytes())
    }

    /// What the reference gives.
    pub fn expected(&self) -> Outcome {
        self.on(&Reference)
    }

    /// What a backend gives.
    pub fn on(&self, backend: &dyn Backend) -> Outcome {
        self.outcome(|inputs, outputs| backend.run_blocking(&self.plan, inputs, outputs))
    }

    /// What a call gives. If there is an error other than a caller's interruption, nothing may have been written;
    /// beside the outputs, nothing at all.
    pub fn outcome(
        &self,
        run: impl FnOnce(&[TensorRef<'_>], &mut [TensorMut<'_>]) -> Result<(), ExecuteError>,
    ) -> Outcome {
        let (result, written) = self.run(run);
        let untouched = || written.iter().flatten().all(|&byte| byte == POISON);
        let may_write = matches!(result, Ok(()) | Err(ExecuteError::Interrupted));
        assert!(may_write || untouched(), "written in spite of {result:?}");
        result.map(|()| written)
    }

    /// What a call returns, and the bytes of each output after it. Beside the outputs nothing may have been written.
    pub fn run(
        &self,
        run: impl FnOnce(&[TensorRef<'_>], &mut [TensorMut<'_>]) -> Result<(), ExecuteError>,
    ) -> (Result<(), ExecuteError>, Vec<Vec<u8>>) {
        let (begin, plan) = (self.offset, &self.plan);
        let shifted = |bytes: &Vec<u8>| [&vec![POISON; begin][..], bytes].concat();
        let inputs: Vec<Cow<'_, Vec<u8>>> =
            self.inputs.iter().map(|x| if begin == 0 { Cow::Borrowed(x) } else { Cow::Owned(shifted(x)) }).collect();
        let own = || plan.inputs().iter().map(|spec| spec.shape.clone()).collect();
        let shapes: Vec<Vec<usize>> = self.shapes.clone().unwrap_or_else(own);
        let views = inputs.iter().zip(plan.inputs()).zip(&shapes);
        let views: Vec<TensorRef<'_>> = views
            .map(|((x, spec), shape)| TensorRef::new(spec.dtype, shape, &x[begin..]).expect("its length"))
            .collect();
        let sizes = plan.outputs().iter().map(|spec| spec.bytes() as usize);
        let mut written: Vec<Vec<u8>> = sizes.map(|size| vec![POISON; begin + size + 1]).collect();
        let outputs = written.iter_mut().zip(plan.outputs()).map(|(y, spec)| {
            let end = y.len() - 1;
            TensorMut::new(spec.dtype, &spec.shape, &mut y[begin..end]).expect("its own length")
        });
        let result = run(&views, &mut outputs.collect::<Vec<_>>());
        for y in &mut written {
            assert!(y[..begin].iter().all(|&byte| byte == POISON), "before an output");
            assert_eq!(y.pop(), Some(POISON), "behind an output");
            y.drain(..begin);
        }
        (result, written)
    }
}

/// The bits are the same, or the error is. Otherwise the text says where the first difference is.
pub fn same(expected: &Outcome, actual: &Outcome) -> Result<(), String> {
    let (Ok(expected), Ok(actual)) = (expected, actual) else {
        if expected.as_ref().err() == actual.as_ref().err() {
            return Ok(());
        }
        return Err(format!("the error is {:?}, not {:?}", actual.as_ref().err(), expected.as_ref().err()));
    };
    for (number, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        if let Some(at) = expected.iter().zip(actual).position(|(expected, actual)| expected != actual) {
            let differ = expected.iter().zip(actual).filter(|(expected, actual)| expected != actual).count();
            return Err(format!("outputs[{number}] differs in {differ} bytes, the first at {at}"));
        }
        assert_eq!(expected.len(), actual.len());
    }
    Ok(())
}
