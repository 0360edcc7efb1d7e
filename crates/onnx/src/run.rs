//! Computes a pooling node.

use wgpu_pooling_plan::{Backend, Plan, Preset, TensorRef};

use super::error::ModelError;
use super::node::ModelNode;
use super::tensor::FileTensor;

impl ModelNode {
    /// Computes the node on its inputs, by the conventions of a runtime. Returns the plan for their shapes and types,
    /// and the outputs.
    ///
    /// # Errors
    /// As [`ModelNode::node`]; [`ModelError::Plan`] as [`Node::plan`](wgpu_pooling_plan::Node::plan);
    /// [`ModelError::Execute`] as [`Backend::run`].
    ///
    /// ```
    /// use wgpu_pooling::{Backend, Preset, TensorRef, onnx::{ModelError, ModelNode}};
    ///
    /// # async fn f(node: &ModelNode, backend: &dyn Backend, x: TensorRef<'_>) -> Result<(), ModelError> {
    /// let (plan, outputs) = node.run(backend, Preset::OnnxRuntime, &[x]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(
        &self,
        backend: &dyn Backend,
        preset: Preset,
        inputs: &[TensorRef<'_>],
    ) -> Result<(Plan, Vec<FileTensor<'static>>), ModelError> {
        let (plan, mut outputs) = self.start(preset, inputs)?;
        let mut written = outputs.iter_mut().map(FileTensor::view_mut).collect::<Result<Vec<_>, _>>()?;
        backend.run(&plan, &inputs[..plan.inputs().len()], &mut written).await?;
        Ok((plan, outputs))
    }

    /// [`ModelNode::run`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`ModelNode::run`].
    ///
    /// ```
    /// use wgpu_pooling::{Preset, Reference, onnx::{FileTensor, Model}};
    ///
    /// let model = Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
    /// let x = FileTensor::open("models/test_maxpool_1d_default_input_0.pb".as_ref())?;
    /// let (_, outputs) = model.nodes()[0].run_blocking(&Reference, Preset::Onnx, &[x.view()?])?;
    /// assert_eq!((outputs[0].name(), outputs[0].shape()), ("y", &[1, 3, 31][..]));
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(
        &self,
        backend: &dyn Backend,
        preset: Preset,
        inputs: &[TensorRef<'_>],
    ) -> Result<(Plan, Vec<FileTensor<'static>>), ModelError> {
        let (plan, mut outputs) = self.start(preset, inputs)?;
        let mut written = outputs.iter_mut().map(FileTensor::view_mut).collect::<Result<Vec<_>, _>>()?;
        backend.run_blocking(&plan, &inputs[..plan.inputs().len()], &mut written)?;
        Ok((plan, outputs))
    }

    /// The plan, which has all inputs or all but the last, on which it depends, and the outputs without their elements.
    fn start(&self, preset: Preset, inputs: &[TensorRef<'_>]) -> Result<(Plan, Vec<FileTensor<'static>>), ModelError> {
        let plan = self.node()?.clone().preset(preset).plan(inputs, self.outputs.len())?;
        let outputs = self.outputs.iter().zip(plan.outputs()).map(|(name, spec)| FileTensor::of_output(name, spec));
        let outputs = outputs.collect::<Result<_, _>>()?;
        Ok((plan, outputs))
    }
}
