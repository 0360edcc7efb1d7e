//! From attributes and options, as text, to an operator of the library, through the library's own parsing.

use wgpu_pooling::{
    AdaptiveMaxPool, Attribute, Duplicates, GlobalMaxPool, MaxPool, MaxUnpool, PlanError, Pooling, SamePadding,
};

/// An operator in the words of a manifest or a model.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub operator: String,
    pub attributes: Vec<(String, Attribute)>,
    /// Names and values; `layout` is one of them. Those that are absent keep the library's default.
    pub options: Vec<(String, String)>,
    /// MaxUnpool's third input.
    pub output_shape: Option<Vec<i64>>,
}

/// An operator of the library.
pub enum Operator {
    Pool(Box<dyn Pooling>),
    Unpool(MaxUnpool),
}

/// Why a recipe gave no operator.
pub enum RecipeError {
    /// The recipe says something that this runner does not know: a defect of the runner or of the data.
    NotUnderstood(String),
    /// The library refuses it.
    Refused(PlanError),
}

impl From<PlanError> for RecipeError {
    fn from(error: PlanError) -> Self {
        RecipeError::Refused(error)
    }
}

impl Recipe {
    /// The recipes to run: this one, or, where no two indices are equal, one for each policy on duplicates, since every
    /// policy has to pass.
    pub fn variants(&self) -> Vec<Recipe> {
        let is_any = |(name, value): &(String, String)| name == "duplicates" && value == "none_present";
        let Some(position) = self.options.iter().position(is_any) else {
            return vec![self.clone()];
        };
        let with_policy = |policy: &Duplicates| {
            let mut recipe = self.clone();
            recipe.options[position].1 = policy.name().to_owned();
            recipe
        };
        Duplicates::ALL.iter().map(with_policy).collect()
    }

    /// The operator.
    pub fn build(&self) -> Result<Operator, RecipeError> {
        if self.output_shape.is_some() && self.operator != "MaxUnpool" {
            return Err(RecipeError::NotUnderstood(format!("{} has no output_shape", self.operator)));
        }
        Ok(match self.operator.as_str() {
            "MaxPool" => Operator::Pool(Box::new(self.max_pool()?)),
            "MaxUnpool" => Operator::Unpool(self.max_unpool()?),
            "AdaptiveMaxPool" => Operator::Pool(Box::new(self.adaptive_max_pool()?)),
            "GlobalMaxPool" => Operator::Pool(Box::new(self.global_max_pool()?)),
            other => return Err(RecipeError::NotUnderstood(format!("unknown operator {other:?}"))),
        })
    }

    fn max_pool(&self) -> Result<MaxPool, RecipeError> {
        let mut pool = MaxPool::from_onnx(self.attributes.iter().cloned())?;
        for (name, value) in &self.options {
            pool = match name.as_str() {
                "layout" => pool.layout(value.parse()?),
                "index_layout" => pool.index_layout(value.parse()?),
                "flatten" => pool.flatten(value.parse()?),
                "index_order" => pool.index_order(value.parse()?),
                "ceil_rule" => pool.ceil_rule(value.parse()?),
                "same_pad" => pool.same_padding(same_padding(value)?),
                "size_rounding" => pool.size_rounding(value.parse()?),
                "max_rule" => pool.nan_policy(value.parse()?),
                "empty_value" => pool.empty_value(value.parse()?),
                "empty_index" => pool.empty_index(value.parse()?),
                "pads_limit" => pool.pads_limit(value.parse()?),
                _ => return Err(self.not_understood(name)),
            };
        }
        Ok(pool)
    }

    fn max_unpool(&self) -> Result<MaxUnpool, RecipeError> {
        let mut unpool = MaxUnpool::from_onnx(self.attributes.iter().cloned())?;
        if let Some(output_shape) = &self.output_shape {
            unpool = unpool.output_shape(output_shape);
        }
        for (name, value) in &self.options {
            unpool = match name.as_str() {
                "layout" => unpool.layout(value.parse()?),
                "index_layout" => unpool.index_layout(value.parse()?),
                "flatten" => unpool.flatten(value.parse()?),
                "index_order" => unpool.index_order(value.parse()?),
                "unpool_space" => unpool.unpool_space(value.parse()?),
                "unpool_min_size" => unpool.unpool_min_size(value.parse()?),
                "duplicates" => unpool.duplicates(value.parse()?),
                "out_of_bounds" => unpool.out_of_bounds(value.parse()?),
                _ => return Err(self.not_understood(name)),
            };
        }
        Ok(unpool)
    }

    fn adaptive_max_pool(&self) -> Result<AdaptiveMaxPool, RecipeError> {
        let mut output_size = None;
        for (name, value) in &self.attributes {
            match (name.as_str(), value) {
                ("output_size", Attribute::Ints(values)) => output_size = Some(values),
                _ => return Err(self.not_understood(name)),
            }
        }
        let output_size = output_size.ok_or_else(|| RecipeError::NotUnderstood("no output_size".to_owned()))?;
        let mut pool = AdaptiveMaxPool::new(output_size);
        for (name, value) in &self.options {
            pool = match name.as_str() {
                "layout" => pool.layout(value.parse()?),
                "index_layout" => pool.index_layout(value.parse()?),
                "flatten" => pool.flatten(value.parse()?),
                "index_order" => pool.index_order(value.parse()?),
                "max_rule" => pool.nan_policy(value.parse()?),
                name if WITHOUT_EFFECT.contains(&name) => pool,
                _ => return Err(self.not_understood(name)),
            };
        }
        Ok(pool)
    }

    fn global_max_pool(&self) -> Result<GlobalMaxPool, RecipeError> {
        // A manifest repeats the spatial shape as kernel_shape; the operator has no attributes.
        if let Some((name, _)) = self.attributes.iter().find(|(name, _)| name != "kernel_shape") {
            return Err(self.not_understood(name));
        }
        let mut pool = GlobalMaxPool::new();
        for (name, value) in &self.options {
            pool = match name.as_str() {
                "layout" => pool.layout(value.parse()?),
                "index_layout" => pool.index_layout(value.parse()?),
                "flatten" => pool.flatten(value.parse()?),
                "index_order" => pool.index_order(value.parse()?),
                "max_rule" => pool.nan_policy(value.parse()?),
                name if WITHOUT_EFFECT.contains(&name) => pool,
                _ => return Err(self.not_understood(name)),
            };
        }
        Ok(pool)
    }

    fn not_understood(&self, name: &str) -> RecipeError {
        RecipeError::NotUnderstood(format!("{} is not known to take {name:?}", self.operator))
    }
}

/// Options that adaptive and global pools do not have, because none of their windows is empty and none of their sizes
/// is rounded: manifests may give them all the same.
const WITHOUT_EFFECT: &[&str] = &["empty_value", "empty_index", "ceil_rule", "same_pad", "size_rounding"];

/// Manifests write `spec` where the clamp never matters.
fn same_padding(value: &str) -> Result<SamePadding, PlanError> {
    if value == "spec" { Ok(SamePadding::SpecClamped) } else { value.parse() }
}
