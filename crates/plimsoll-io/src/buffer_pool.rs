//! The memory that operations read into and write from: one mapping for all tags of an engine.
//!
//! One mapping, because it is registered with the kernel as one buffer, and because its pages are there before the
//! measurement starts: a page fault inside of it would be counted as latency of the storage.

use std::{io, ops::Range, ptr, slice};

use rustix::{
    io::Errno,
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap},
};

use crate::engine::Tag;

/// Every buffer starts at a multiple of this: no device asks for more of direct I/O.
const ALIGNMENT_BYTES: usize = 4096;

/// From this size on, huge pages neither waste memory nor go unused.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Page-aligned, resident buffers of equal size, one for each tag. Zeroed at first.
#[derive(Debug)]
pub struct BufferPool {
    base: *mut u8,
    mapped_bytes: usize,
    tag_bytes: usize,
    stride_bytes: usize,
}

impl BufferPool {
    /// Maps and populates `tags` buffers of `tag_bytes` bytes.
    ///
    /// # Errors
    /// That of `mmap` when there is no memory for them, `EINVAL` when there would be no byte to map.
    pub fn new(tags: u32, tag_bytes: u32) -> io::Result<Self> {
        let tag_bytes = tag_bytes as usize;
        let stride_bytes = tag_bytes.next_multiple_of(ALIGNMENT_BYTES);
        let mapped_bytes = stride_bytes.checked_mul(tags as usize).filter(|bytes| *bytes > 0).ok_or(Errno::INVAL)?;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory in use.
        let base = unsafe {
            mmap_anonymous(ptr::null_mut(), mapped_bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let mut pool = Self { base: base.cast(), mapped_bytes, tag_bytes, stride_bytes };
        pool.populate();
        Ok(pool)
    }

    fn populate(&mut self) {
        if self.mapped_bytes >= HUGE_PAGE_BYTES {
            // Fewer pages to pin for each large operation. A kernel without huge pages refuses, which costs nothing.
            // SAFETY: the advice is about our own mapping and does not change what is in it.
            let _ = unsafe { madvise(self.base.cast(), self.mapped_bytes, Advice::LinuxHugepage) };
        }
        // SAFETY: as above; populating does not change what is in the mapping.
        let populated = unsafe { madvise(self.base.cast(), self.mapped_bytes, Advice::LinuxPopulateWrite) };
        if populated.is_err() {
            // Kernels before 5.14: writing a byte to each page does the same.
            self.bytes(0..self.mapped_bytes).chunks_mut(ALIGNMENT_BYTES).for_each(|page| page[0] = 0);
        }
    }

    /// Bytes of one buffer.
    pub fn tag_bytes(&self) -> usize {
        self.tag_bytes
    }

    /// Distance between the starts of two buffers.
    pub fn stride_bytes(&self) -> usize {
        self.stride_bytes
    }

    /// Bytes of the whole mapping.
    pub fn mapped_bytes(&self) -> usize {
        self.mapped_bytes
    }

    /// How many buffers there are.
    pub fn tags(&self) -> usize {
        self.mapped_bytes / self.stride_bytes
    }

    /// The buffer of a tag.
    #[inline]
    pub fn slice(&mut self, tag: Tag) -> &mut [u8] {
        let start = usize::from(tag.0) * self.stride_bytes;
        self.bytes(start..start + self.tag_bytes)
    }

    /// Where the buffer of a tag starts, for the kernel.
    #[inline]
    pub fn pointer(&self, tag: Tag) -> *mut u8 {
        let start = usize::from(tag.0) * self.stride_bytes;
        assert!(start < self.mapped_bytes, "the tag has no buffer");
        self.base.wrapping_add(start)
    }

    #[inline]
    fn bytes(&mut self, range: Range<usize>) -> &mut [u8] {
        assert!(range.end <= self.mapped_bytes, "the tag has no buffer");
        // SAFETY: the range lies inside of the mapping, which lives as long as `self`, is readable, writable and
        // zeroed at first, and is borrowed exclusively through `self`; what the kernel may be writing to is kept
        // from callers by the engines (see `TagsInFlight`).
        unsafe { slice::from_raw_parts_mut(self.base.wrapping_add(range.start), range.len()) }
    }

    /// Gives the memory up for good: for buffers that an operation which never ended may still write to.
    pub(crate) fn leak(&mut self) {
        self.mapped_bytes = 0;
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        if self.mapped_bytes > 0 {
            // SAFETY: this is the mapping that `new` made, and no borrow of it outlives `self`. The result can only
            // tell of wrong arguments.
            let _ = unsafe { munmap(self.base.cast(), self.mapped_bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_zeroed_and_apart() {
        let mut pool = BufferPool::new(3, 5000).unwrap();
        assert_eq!((pool.tags(), pool.stride_bytes(), pool.mapped_bytes()), (3, 8192, 24_576));
        for tag in 0..3 {
            let buffer = pool.slice(Tag(tag));
            assert_eq!(buffer.len(), 5000);
            assert!(buffer.iter().all(|byte| *byte == 0));
            buffer.fill(tag as u8 + 1);
            assert_eq!(pool.pointer(Tag(tag)).addr() % ALIGNMENT_BYTES, 0);
        }
        for tag in 0..3 {
            assert!(pool.slice(Tag(tag)).iter().all(|byte| *byte == tag as u8 + 1));
        }
    }

    #[test]
    fn a_pool_without_a_byte_is_refused() {
        assert!(BufferPool::new(0, 4096).is_err());
        assert!(BufferPool::new(1, 0).is_err());
    }

    #[test]
    fn large_pools_are_usable_to_the_last_byte() {
        let mut pool = BufferPool::new(4, 1 << 20).unwrap();
        let last = pool.slice(Tag(3)).last_mut().unwrap();
        *last = 7;
        assert_eq!(pool.slice(Tag(3))[(1 << 20) - 1], 7);
    }

    #[test]
    fn a_tag_without_a_buffer_gets_none() {
        let mut pool = BufferPool::new(2, 4096).unwrap();
        let beyond = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.slice(Tag(2)).len()));
        assert!(beyond.is_err());
    }
}
