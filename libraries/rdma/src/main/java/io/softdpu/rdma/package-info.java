/**
 * RDMA as specified by the RDMA guide. Start with {@link io.softdpu.rdma.Rdma}: an instance is a
 * context; it is connected to instances of peers by exchanging blobs, and its tasks send, receive,
 * read and write. The transport of the bytes is implemented by a provider ({@code
 * io.softdpu.rdma.spi}), which is not visible to users of this package.
 *
 * <p><b>Thread.</b> An instance, its connections and its tasks belong to the thread of the progress
 * engine; callbacks run inside {@code progress()}.
 *
 * <p><b>Ownership.</b> The instance owns its connections and the pools of its tasks. From submit to
 * callback a task and its bufs belong to the instance. After start the data path allocates nothing.
 *
 * <p><b>Trust.</b> A peer's blob is checked before anything in it is used. Access of a peer to
 * memory requires the permissions of both the mmap and the instance.
 *
 * <p><b>Arguments.</b> An argument that is null (unless the method permits null), out of range, or
 * closed is rejected with a {@link io.softdpu.core.DpuException} before anything changes:
 * INVALID_VALUE, naming the argument, or the status that the method names. No other exception
 * leaves this package, unless a callback of the user threw it.
 */
@NullMarked
package io.softdpu.rdma;

import org.jspecify.annotations.NullMarked;
