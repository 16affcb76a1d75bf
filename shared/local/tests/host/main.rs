//! The Lambda host over the embedded stores: the rules of its mappings, its gateway and its processes.

#[cfg(test)]
mod bench;
#[cfg(test)]
mod chain;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod position;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod queue;
#[cfg(test)]
mod sending;
#[cfg(test)]
mod stores;
#[cfg(test)]
mod stream;
