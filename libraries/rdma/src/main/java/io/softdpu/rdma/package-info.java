/**
 * RDMA after the RDMA guide: an {@link io.softdpu.rdma.Rdma} instance is a context; it is connected
 * to instances of peers by exchanging blobs, and its tasks send, receive, read and write. How bytes
 * travel is the business of a provider ({@code io.softdpu.rdma.spi}); whoever uses this package
 * does not see it.
 *
 * <p><b>Thread.</b> An instance, its connections and its tasks belong to the thread of the progress
 * engine; callbacks run inside {@code progress()}.
 *
 * <p><b>Ownership.</b> The instance owns its connections and the pools of its tasks. From submit to
 * callback a task and its bufs belong to the instance. After start nothing is allocated on the path
 * of a message.
 *
 * <p><b>Trust.</b> A peer's blob is checked before anything in it is used. What a peer may do to
 * memory is decided twice: by the permissions of the mmap and by those of the instance.
 *
 * <p><b>Arguments.</b> What is null where a method does not say that null will do, out of range, or
 * closed already is refused with a {@link io.softdpu.core.DpuException} before anything has
 * changed: INVALID_VALUE, naming the argument, or the status that the method names. No other
 * exception leaves this package, unless a callback of the user threw it.
 */
@NullMarked
package io.softdpu.rdma;

import org.jspecify.annotations.NullMarked;
