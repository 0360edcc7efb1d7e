//! What needs neither a device nor a computation: plans and schedules, what they refuse, the texts of the shaders, and what the
//! sources keep to.

mod hostile;
mod house_rules;
mod imports;
mod schedules;
mod translations;
