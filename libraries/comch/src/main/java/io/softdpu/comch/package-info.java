/**
 * The Comm Channel: messages and zero-copy queues between a program on the host and one on the DPU
 * (Comm Channel guide; the modern API calls it Comch). Start with {@link
 * io.softdpu.comch.ComchServer} on the DPU and {@link io.softdpu.comch.ComchClient} on the host.
 *
 * <p>A {@link io.softdpu.comch.ComchServer} on the DPU serves a name for one function of the host,
 * a {@link io.softdpu.comch.ComchClient} on that function connects to it, and each pair is a {@link
 * io.softdpu.comch.ComchConnection}: the basic path, messages of up to 4,080 bytes that are copied.
 * On a connection either side creates {@link io.softdpu.comch.ComchConsumer}s, which post buffers,
 * and {@link io.softdpu.comch.ComchProducer}s, which write straight into the buffers that a
 * consumer of the peer has posted: the fast path. A {@link io.softdpu.comch.ComchStream} is the
 * short way to it: buffers in both directions, with backpressure and an orderly end.
 *
 * <p><b>Threads.</b> Server, client and their connections belong to the thread of their engine;
 * each producer and consumer may belong to another engine and thread. Callbacks run inside progress
 * of the object's engine. On the control path threads communicate by posts to the other's engine;
 * the data path takes no lock, allocates nothing and makes a system call only to wake a sleeping
 * peer.
 *
 * <p><b>Ownership.</b> Objects are created in this order and closed in the reverse: device, server
 * or client, connection, producers and consumers, or a stream. A message passed to a callback
 * belongs to the library and is valid during the call. A buf belongs to the library from submit to
 * completion.
 *
 * <p><b>Trust.</b> The peer may write anything at any time. Data from it is copied once to private
 * memory, checked, then used; a violation of the protocol of {@code docs/wire/comch.md} closes the
 * connection and has no other effect.
 *
 * <p><b>Arguments.</b> An argument that is null (unless the method permits null), out of range, or
 * closed is rejected with a {@link io.softdpu.core.DpuException} before anything changes:
 * INVALID_VALUE, naming the argument, or the status that the method names. No other exception
 * leaves this package, unless a callback of the user threw it.
 */
@NullMarked
package io.softdpu.comch;

import org.jspecify.annotations.NullMarked;
