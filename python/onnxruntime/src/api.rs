//! onnxruntime's C interface: the entry point that it calls when it loads this library, and the functions of an
//! operator.
//!
//! What holds for all of it, by the C interface's documentation: pointers that onnxruntime hands to a function are
//! valid for the call; the `OrtApi` lives as long as the process; strings are zero-terminated. The private functions
//! here get such pointers alone. No function that could panic lets a panic out: it runs in [`guarded`].

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use ort_sys::{
    ONNXTensorElementDataType as Type, OrtApi, OrtApiBase, OrtCustomOp, OrtCustomOpInputOutputCharacteristic,
    OrtErrorCode, OrtKernelContext, OrtKernelInfo, OrtLogger, OrtLoggingLevel, OrtMemType, OrtSessionOptions,
    OrtStatusPtr, OrtTensorTypeAndShapeInfo, OrtValue,
};
use wgpu_pooling::{Attribute, DType, ExecuteError, TensorMut, TensorRef};

use crate::operator::{
    ATTRIBUTES, Domain, Elements, Error, Kernel, Kind, Need, Place, Replaced, Shared, parse_ai_onnx,
};

/// The oldest version of the interface that has all that is used here: that of onnxruntime 1.17.
const VERSION: u32 = 17;

/// An operator for one element type of X. onnxruntime holds a pointer to its first field, and hands that to the
/// operator's functions.
#[repr(C)]
struct Operator {
    functions: OrtCustomOp,
    domain: Domain,
    kind: Kind,
    dtype: DType,
    shared: &'static Shared,
}

/// A node of a session: what onnxruntime has as the `op_kernel`.
struct Instance {
    api: &'static OrtApi,
    dtype: DType,
    kind: Kind,
    kernel: Kernel,
}

/// Registers the operators in the options of a session. onnxruntime finds it by this name.
///
/// What it registers is never freed, because onnxruntime does not say when the last session that was made from the
/// options ends; that is some 20 KB for each call. Devices are closed with the last node that uses them.
///
/// # Safety
/// `options` and `base` are what onnxruntime hands over: valid pointers.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn RegisterCustomOps(
    options: *mut OrtSessionOptions,
    base: *const OrtApiBase,
) -> OrtStatusPtr {
    // SAFETY: `base` is valid, and GetApi may be called with any version: it returns null for those it does not have.
    let api = unsafe { base.as_ref().and_then(|base| ((base.GetApi)(VERSION)).as_ref()) };
    // Without an interface there is no way to make a status; onnxruntime's own loader has reported the version by then.
    let Some(api) = api else { return OrtStatusPtr::default() };
    guarded(api, || register(api, options))
}

/// The result of some work as a status; a panic is an error too.
fn guarded(api: &OrtApi, work: impl FnOnce() -> Result<(), Error>) -> OrtStatusPtr {
    match catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Error::Panic)) {
        Ok(()) => OrtStatusPtr::default(),
        Err(error) => {
            let text = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
            // SAFETY: the text is zero-terminated and is copied.
            unsafe { (api.CreateStatus)(code(&error), text.as_ptr()) }
        }
    }
}

/// onnxruntime's word for an error.
fn code(error: &Error) -> OrtErrorCode {
    match error {
        Error::Execute(ExecuteError::Plan(_) | ExecuteError::IndexOutOfRange { .. })
        | Error::Place(_)
        | Error::AiOnnx(_)
        | Error::NegativeDimension(_) => OrtErrorCode::ORT_INVALID_ARGUMENT,
        Error::Execute(_) | Error::Runtime(_) | Error::Panic | Error::Forked(..) | Error::NotReplaced { .. } => {
            OrtErrorCode::ORT_FAIL
        }
    }
}

/// A status of onnxruntime as a result.
fn checked(api: &OrtApi, what: &str, status: OrtStatusPtr) -> Result<(), Error> {
    let Some(status) = NonNull::new(status.0) else { return Ok(()) };
    // SAFETY: the status is not null and was not released; its text lives until then and is copied before.
    let text = unsafe {
        let text = CStr::from_ptr((api.GetErrorMessage)(status.as_ptr())).to_string_lossy().into_owned();
        (api.ReleaseStatus)(status.as_ptr());
        text
    };
    Err(Error::Runtime(format!("{what}: {text}")))
}

fn register(api: &'static OrtApi, options: *mut OrtSessionOptions) -> Result<(), Error> {
    let place = Place::parse(entry(api, options, c"wgpu_pooling.device")?.as_deref())?;
    let ai_onnx = parse_ai_onnx(entry(api, options, c"wgpu_pooling.ai_onnx")?.as_deref())?;
    let shared: &'static Shared = Box::leak(Box::new(Shared::new(place)));
    let domains = [Domain::Own, Domain::Nhwc].into_iter().chain(ai_onnx.then_some(Domain::Onnx));
    for domain in domains {
        let mut own = ptr::null_mut();
        // SAFETY: the name is zero-terminated and is copied; `own` is written to.
        checked(api, "made no domain", unsafe { (api.CreateCustomOpDomain)(domain.name().as_ptr(), &mut own) })?;
        for (&kind, dtype) in domain.kinds().iter().flat_map(|kind| DType::ALL.iter().map(move |&dtype| (kind, dtype)))
        {
            let operator = Box::leak(Box::new(Operator { functions: FUNCTIONS, domain, kind, dtype, shared }));
            // SAFETY: `own` is the domain just made. The operator lives as long as the process; its functions are those
            // of an `Operator`, which begins with an `OrtCustomOp`.
            let status = unsafe { (api.CustomOpDomain_Add)(own, ptr::from_ref(operator).cast()) };
            checked(api, "took no operator", status)?;
        }
        // SAFETY: the options are valid for this call; the domain is never released, as onnxruntime asks for while
        // there are sessions with it.
        checked(api, "took no domain", unsafe { (api.AddCustomOpDomain)(options, own) })?;
    }
    Ok(())
}

/// An entry of the session's configuration, if there is one.
fn entry(api: &OrtApi, options: *const OrtSessionOptions, key: &CStr) -> Result<Option<String>, Error> {
    let mut has: c_int = 0;
    // SAFETY: the options are valid for the call of `RegisterCustomOps`, the key is zero-terminated, `has` is written
    // to.
    let status = unsafe { (api.HasSessionConfigEntry)(options, key.as_ptr(), &mut has) };
    checked(api, "has no configuration", status)?;
    if has == 0 {
        return Ok(None);
    }
    text(
        |buffer, size| {
            // SAFETY: as above; `text` hands over a buffer of `size` bytes, or null with a size of 0.
            unsafe { (api.GetSessionConfigEntry)(options, key.as_ptr(), buffer, size) }
        },
        api,
    )
    .map(Some)
}

/// A text that onnxruntime writes to a buffer, whose size it says first.
fn text(mut get: impl FnMut(*mut c_char, &mut usize) -> OrtStatusPtr, api: &OrtApi) -> Result<String, Error> {
    let mut size = 0;
    checked(api, "said no length", get(ptr::null_mut(), &mut size))?;
    let mut bytes = vec![0u8; size];
    checked(api, "gave no text", get(bytes.as_mut_ptr().cast(), &mut size))?;
    let until = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.truncate(until);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Numbers that onnxruntime writes to a buffer, whose length it says first.
fn numbers<T: Default + Clone>(
    mut get: impl FnMut(*mut T, &mut usize) -> OrtStatusPtr,
    api: &OrtApi,
) -> Result<Vec<T>, Error> {
    let mut count = 0;
    checked(api, "said no length", get(ptr::null_mut(), &mut count))?;
    let mut numbers = vec![T::default(); count];
    if count > 0 {
        checked(api, "gave no numbers", get(numbers.as_mut_ptr(), &mut count))?;
        numbers.truncate(count);
    }
    Ok(numbers)
}

/// The attributes that a node has, of whatever kind: one of a wrong kind is refused later.
fn attributes(api: &OrtApi, info: *const OrtKernelInfo) -> Vec<(&'static str, Attribute)> {
    ATTRIBUTES.iter().filter_map(|name| Some((name.to_str().ok()?, attribute(api, info, name)?))).collect()
}

/// An attribute, if the node has it. That it is not there, and that it is of another kind, are one error of
/// onnxruntime's.
fn attribute(api: &OrtApi, info: *const OrtKernelInfo, name: &CStr) -> Option<Attribute> {
    let name = name.as_ptr();
    let (mut int, mut float) = (0, 0.0);
    // SAFETY: `info` is valid while the kernel is made; the name is zero-terminated; `int` is written to.
    let status = unsafe { (api.KernelInfoGetAttribute_int64)(info, name, &mut int) };
    if checked(api, "has no integer", status).is_ok() {
        return Some(Attribute::Int(int));
    }
    // SAFETY: as above; `float` is written to.
    let status = unsafe { (api.KernelInfoGetAttribute_float)(info, name, &mut float) };
    if checked(api, "has no float", status).is_ok() {
        return Some(Attribute::Other);
    }
    // SAFETY: as above; `text` hands over a buffer of the size that it was told, or null with a size of 0.
    let string = |to, size: &mut usize| unsafe { (api.KernelInfoGetAttribute_string)(info, name, to, size) };
    if let Ok(string) = text(string, api) {
        return Some(Attribute::String(string));
    }
    // SAFETY: as for the text, with `numbers`.
    let floats = |to, count: &mut usize| unsafe { (api.KernelInfoGetAttributeArray_float)(info, name, to, count) };
    if let Some(floats) = numbers(floats, api).ok().filter(|floats| !floats.is_empty()) {
        return Some(Attribute::Floats(floats));
    }
    // SAFETY: as for floats. Of an attribute that is there onnxruntime gives an empty list where it is of another kind.
    let ints = |to, count: &mut usize| unsafe { (api.KernelInfoGetAttributeArray_int64)(info, name, to, count) };
    numbers(ints, api).ok().map(Attribute::Ints)
}

/// Says in onnxruntime's log which node is computed here.
fn tell(api: &OrtApi, info: *const OrtKernelInfo, operator: &Operator, device: &str) {
    // SAFETY: `info` is valid while the kernel is made; `text` hands over buffers as it was told.
    let name = text(|to, size| unsafe { (api.KernelInfo_GetNodeName)(info, to, size) }, api).unwrap_or_default();
    let kind = operator.kind.name().to_string_lossy();
    let message = format!("wgpu-pooling computes the node {name:?}, {kind} of {}, on {device}", operator.dtype.name());
    let mut logger: *const OrtLogger = ptr::null();
    // SAFETY: `logger` is written to.
    let status = unsafe { (api.KernelInfo_GetLogger)(info, &mut logger) };
    log(api, (status, logger), OrtLoggingLevel::ORT_LOGGING_LEVEL_INFO, c"CreateKernel", &message);
}

/// Writes to onnxruntime's log. The logger is one that was just asked for, with the status of asking. What cannot be
/// written changes no result.
fn log(
    api: &OrtApi,
    (status, logger): (OrtStatusPtr, *const OrtLogger),
    level: OrtLoggingLevel,
    function: &CStr,
    message: &str,
) {
    if checked(api, "has no logger", status).is_err() || logger.is_null() {
        return;
    }
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let (file, line, function) = (c"wgpu_pooling".as_ptr(), 1, function.as_ptr());
    // SAFETY: the logger lives as long as the node or the call that it was asked for, and so during this call; the
    // texts are zero-terminated and are copied. Paths are of 16-bit characters on Windows, where the pointer is that of
    // an empty path.
    #[cfg(not(windows))]
    let status = unsafe { (api.Logger_LogMessage)(logger, level, message.as_ptr(), file, line, function) };
    #[cfg(windows)]
    let status = unsafe { (api.Logger_LogMessage)(logger, level, message.as_ptr(), [0u16].as_ptr(), line, function) };
    #[cfg(windows)]
    let _ = file;
    let _ = checked(api, "wrote no message", status);
}

/// The functions of every operator.
const FUNCTIONS: OrtCustomOp = OrtCustomOp {
    version: VERSION,
    // The form with a status is used where there is one.
    CreateKernel: None,
    KernelCompute: None,
    GetName: Some(name),
    // Null: onnxruntime's own CPU provider, in whose memory tensors lie.
    GetExecutionProviderType: Some(provider),
    GetInputType: Some(input_type),
    GetInputTypeCount: Some(input_count),
    GetOutputType: Some(output_type),
    GetOutputTypeCount: Some(output_count),
    KernelDestroy: Some(destroy),
    GetInputCharacteristic: Some(input_need),
    GetOutputCharacteristic: Some(output_need),
    GetInputMemoryType: Some(memory),
    GetVariadicInputMinArity: Some(none),
    GetVariadicInputHomogeneity: Some(none),
    GetVariadicOutputMinArity: Some(none),
    GetVariadicOutputHomogeneity: Some(none),
    CreateKernelV2: Some(create),
    KernelComputeV2: Some(compute),
    InferOutputShapeFn: None,
    GetStartVersion: Some(first_version),
    GetEndVersion: Some(last_version),
};

/// # Safety
/// `op` is a pointer that `register` handed over.
unsafe fn operator<'a>(op: *const OrtCustomOp) -> &'a Operator {
    // SAFETY: those pointers are of an `Operator`, which begins with the `OrtCustomOp` and is never freed.
    unsafe { &*op.cast::<Operator>() }
}

unsafe extern "system" fn name(op: *const OrtCustomOp) -> *const c_char {
    // SAFETY: onnxruntime passes what was registered; this holds for all functions below.
    unsafe { operator(op) }.kind.name().as_ptr()
}

unsafe extern "system" fn provider(_: *const OrtCustomOp) -> *const c_char {
    ptr::null()
}

unsafe extern "system" fn input_type(op: *const OrtCustomOp, index: usize) -> Type {
    // SAFETY: see `name`.
    let operator = unsafe { operator(op) };
    type_of(operator.kind.inputs(), index, operator.dtype)
}

unsafe extern "system" fn input_count(op: *const OrtCustomOp) -> usize {
    // SAFETY: see `name`.
    unsafe { operator(op) }.kind.inputs().len()
}

unsafe extern "system" fn output_type(op: *const OrtCustomOp, index: usize) -> Type {
    // SAFETY: see `name`.
    let operator = unsafe { operator(op) };
    type_of(operator.kind.outputs(), index, operator.dtype)
}

unsafe extern "system" fn output_count(op: *const OrtCustomOp) -> usize {
    // SAFETY: see `name`.
    unsafe { operator(op) }.kind.outputs().len()
}

unsafe extern "system" fn input_need(op: *const OrtCustomOp, index: usize) -> OrtCustomOpInputOutputCharacteristic {
    // SAFETY: see `name`.
    need_of(unsafe { operator(op) }.kind.inputs(), index)
}

unsafe extern "system" fn output_need(op: *const OrtCustomOp, index: usize) -> OrtCustomOpInputOutputCharacteristic {
    // SAFETY: see `name`.
    need_of(unsafe { operator(op) }.kind.outputs(), index)
}

unsafe extern "system" fn memory(_: *const OrtCustomOp, _: usize) -> OrtMemType {
    OrtMemType::OrtMemTypeDefault
}

unsafe extern "system" fn none(_: *const OrtCustomOp) -> c_int {
    0
}

unsafe extern "system" fn first_version(op: *const OrtCustomOp) -> c_int {
    // SAFETY: see `name`.
    unsafe { operator(op) }.domain.version()
}

unsafe extern "system" fn last_version(_: *const OrtCustomOp) -> c_int {
    c_int::MAX
}

fn need_of(all: &[(Elements, Need)], index: usize) -> OrtCustomOpInputOutputCharacteristic {
    match all.get(index) {
        Some((_, Need::Required)) => OrtCustomOpInputOutputCharacteristic::INPUT_OUTPUT_REQUIRED,
        _ => OrtCustomOpInputOutputCharacteristic::INPUT_OUTPUT_OPTIONAL,
    }
}

fn type_of(all: &[(Elements, Need)], index: usize, of_x: DType) -> Type {
    match all.get(index) {
        Some((Elements::OfX, _)) => element_type(of_x),
        Some((Elements::I64, _)) => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64,
        None => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED,
    }
}

fn element_type(dtype: DType) -> Type {
    match dtype {
        DType::F32 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
        DType::F64 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE,
        DType::F16 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16,
        DType::Bf16 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16,
        DType::I8 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8,
        DType::U8 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8,
        DType::I16 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16,
        DType::U16 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16,
        DType::I32 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32,
        DType::U32 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32,
        DType::I64 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64,
        DType::U64 => Type::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64,
    }
}

unsafe extern "system" fn create(
    op: *const OrtCustomOp,
    api: *const OrtApi,
    info: *const OrtKernelInfo,
    kernel: *mut *mut c_void,
) -> OrtStatusPtr {
    // SAFETY: see `name`; the interface lives as long as the process.
    let (operator, api): (&Operator, &'static OrtApi) = unsafe { (operator(op), &*api) };
    guarded(api, || {
        let (domain, kind, dtype) = (operator.domain, operator.kind, operator.dtype);
        let own = Kernel::new((domain, kind), attributes(api, info), operator.shared)?;
        tell(api, info, operator, &own.device());
        let instance = Box::new(Instance { api, dtype, kind, kernel: own });
        // SAFETY: `kernel` is where onnxruntime wants the pointer; `destroy` takes it back.
        unsafe { kernel.write(Box::into_raw(instance).cast()) };
        Ok(())
    })
}

unsafe extern "system" fn destroy(kernel: *mut c_void) {
    // SAFETY: the pointer is of a box that `create` gave away, and onnxruntime hands it here once.
    let instance = unsafe { Box::from_raw(kernel.cast::<Instance>()) };
    // A panic has nowhere to go.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(instance)));
}

unsafe extern "system" fn compute(kernel: *mut c_void, context: *mut OrtKernelContext) -> OrtStatusPtr {
    // SAFETY: the pointer is of a box that `create` gave away and `destroy` has not taken back. onnxruntime may compute
    // on several threads at once, and an `Instance` is only read.
    let instance = unsafe { &*kernel.cast::<Instance>() };
    guarded(instance.api, || run(instance, context))
}

fn run(instance: &Instance, context: *mut OrtKernelContext) -> Result<(), Error> {
    let (api, kernel) = (instance.api, &instance.kernel);
    let mut read = Vec::new();
    for (index, (elements, _)) in instance.kind.inputs().iter().enumerate() {
        let dtype = if *elements == Elements::OfX { instance.dtype } else { DType::I64 };
        // The optional input is the last one.
        let Some(value) = input(api, context, index)? else { break };
        let shape = shape(api, value.as_ptr())?;
        // SAFETY: onnxruntime passes tensors of the types that it was told. They are there until this call ends, as
        // `read` is, and nobody writes them meanwhile.
        let bytes = unsafe { bytes(api, value, dtype, &shape) }?;
        read.push((dtype, shape, bytes));
    }
    let tensors = read.iter().map(|(dtype, shape, bytes)| TensorRef::new(*dtype, shape, bytes));
    let mut inputs = tensors.collect::<Result<Vec<_>, _>>()?;
    let mut count = 0;
    // SAFETY: the context is valid for this call, `count` is written to.
    checked(api, "counted no outputs", unsafe { (api.KernelContext_GetOutputCount)(context, &mut count) })?;
    let mut plan = kernel.plan(&inputs, count)?;
    let mut values = outputs(api, context, plan.outputs())?;
    if values.len() > 1 && values[1].is_null() {
        // The node has a place for Indices, and nobody takes them.
        plan = kernel.plan(&inputs, 1)?;
        values.truncate(1);
    }
    let mut results = Vec::new();
    for (value, spec) in values.into_iter().zip(plan.outputs()) {
        // SAFETY: the value is an output of this call of just this shape and type, which nobody else reads or writes
        // while the call lasts; it has the bytes of its elements.
        let bytes = unsafe { bytes_mut(api, value, spec.bytes()) }?;
        // A run that fails has no outputs.
        results.push(TensorMut::new(spec.dtype, &spec.shape, bytes)?.fresh());
    }
    // The plan has what `output_shape` says, and does not read it again.
    inputs.truncate(plan.inputs().len());
    if let Some(Replaced { reason, device }) = kernel.run(&plan, &inputs, &mut results)? {
        let mut logger: *const OrtLogger = ptr::null();
        // SAFETY: the context is valid for this call, `logger` is written to.
        let status = unsafe { (api.KernelContext_GetLogger)(context, &mut logger) };
        let message = format!("wgpu-pooling lost its device ({reason}) and opened {device}");
        let level = OrtLoggingLevel::ORT_LOGGING_LEVEL_WARNING;
        log(api, (status, logger), level, c"KernelCompute", &message);
    }
    Ok(())
}

/// An input, if it is there.
fn input(api: &OrtApi, context: *const OrtKernelContext, index: usize) -> Result<Option<NonNull<OrtValue>>, Error> {
    let mut count = 0;
    // SAFETY: the context is valid for the call that computes, `count` is written to.
    checked(api, "counted no inputs", unsafe { (api.KernelContext_GetInputCount)(context, &mut count) })?;
    if index >= count {
        return Ok(None);
    }
    let mut value: *const OrtValue = ptr::null();
    // SAFETY: as above, and there is an input of this number; null is written if the node leaves it out.
    checked(api, "has no input", unsafe { (api.KernelContext_GetInput)(context, index, &mut value) })?;
    Ok(NonNull::new(value.cast_mut()))
}

/// The bytes of an input, of the element type that the operator was registered for.
///
/// # Safety
/// The value is a tensor of this type and shape, and nobody writes or frees it while the result lives.
unsafe fn bytes<'a>(api: &OrtApi, value: NonNull<OrtValue>, dtype: DType, shape: &[usize]) -> Result<&'a [u8], Error> {
    let bytes = wgpu_pooling::element_count(shape)?.saturating_mul(dtype.bytes() as u64);
    let data = data(api, value.as_ptr())?;
    let length = usize::try_from(bytes).map_err(|_| Error::Runtime(format!("has a tensor of {bytes} bytes")))?;
    // SAFETY: the data has the bytes of the elements of its shape; the rest is this function's own condition.
    Ok(data.map_or(&[], |data| unsafe { std::slice::from_raw_parts(data.as_ptr(), length) }))
}

fn shape(api: &OrtApi, value: *const OrtValue) -> Result<Vec<usize>, Error> {
    let mut info: *mut OrtTensorTypeAndShapeInfo = ptr::null_mut();
    // SAFETY: the value is a tensor; `info` is written to.
    checked(api, "has no shape", unsafe { (api.GetTensorTypeAndShape)(value, &mut info) })?;
    let dimensions = || {
        let mut rank = 0;
        // SAFETY: `info` is valid until it is released below; `rank` is written to.
        checked(api, "has no rank", unsafe { (api.GetDimensionsCount)(info, &mut rank) })?;
        let mut dimensions = vec![0i64; rank];
        // SAFETY: as above, and there is room for as many dimensions as there are.
        checked(api, "has no dimensions", unsafe { (api.GetDimensions)(info, dimensions.as_mut_ptr(), rank) })?;
        Ok(dimensions)
    };
    let dimensions: Result<Vec<i64>, Error> = dimensions();
    // SAFETY: it was made above and is not used any more.
    unsafe { (api.ReleaseTensorTypeAndShapeInfo)(info) };
    dimensions?
        .into_iter()
        .map(|extent| usize::try_from(extent).map_err(|_| Error::NegativeDimension(extent)))
        .collect()
}

/// Where a tensor's elements lie; nowhere, if it has none.
fn data(api: &OrtApi, value: *mut OrtValue) -> Result<Option<NonNull<u8>>, Error> {
    let mut data: *mut c_void = ptr::null_mut();
    // SAFETY: the value is a tensor; `data` is written to.
    checked(api, "has no data", unsafe { (api.GetTensorMutableData)(value, &mut data) })?;
    Ok(NonNull::new(data.cast()))
}

/// The outputs of these shapes; null for one that nobody takes.
fn outputs(
    api: &OrtApi,
    context: *mut OrtKernelContext,
    specs: &[wgpu_pooling::TensorSpec],
) -> Result<Vec<*mut OrtValue>, Error> {
    let make = |(index, spec): (usize, &wgpu_pooling::TensorSpec)| {
        let shape: Vec<i64> = spec.shape.iter().map(|&extent| extent as i64).collect();
        let mut value = ptr::null_mut();
        // SAFETY: the context is valid for the call that computes; the shape is copied; `value` is written to.
        let status = unsafe { (api.KernelContext_GetOutput)(context, index, shape.as_ptr(), shape.len(), &mut value) };
        checked(api, "made no output", status).map(|()| value)
    };
    specs.iter().enumerate().map(make).collect()
}

/// The bytes of an output.
///
/// # Safety
/// The value is a tensor of this many bytes, and nobody else reads or writes it while the result lives.
unsafe fn bytes_mut<'a>(api: &OrtApi, value: *mut OrtValue, bytes: u64) -> Result<&'a mut [u8], Error> {
    let length = usize::try_from(bytes).map_err(|_| Error::Runtime(format!("has a tensor of {bytes} bytes")))?;
    // SAFETY: by this function's own conditions.
    Ok(data(api, value)?.map_or(&mut [], |data| unsafe { std::slice::from_raw_parts_mut(data.as_ptr(), length) }))
}
