//! Every row of both tables over real sockets, against servers that break in every way.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod bench;
#[cfg(test)]
mod http;
#[cfg(test)]
mod queue;
#[cfg(test)]
mod requests;
