/**
 * The Comm Channel: messages and zero-copy queues between a program on the host and one on the DPU
 * (Comm Channel guide; the modern API calls it Comch).
 *
 * <p>A {@link io.softdpu.comch.ComchServer} on the DPU serves a name for one function of the host,
 * a {@link io.softdpu.comch.ComchClient} on that function connects to it, and each pair is a {@link
 * io.softdpu.comch.ComchConnection}: the basic path, messages of up to 4,080 bytes that are copied.
 * On a connection either side creates {@link io.softdpu.comch.ComchConsumer}s, which post buffers,
 * and {@link io.softdpu.comch.ComchProducer}s, which write straight into the buffers that a
 * consumer of the peer has posted: the fast path.
 *
 * <p><b>Threads.</b> Server, client and their connections belong to the thread of their engine;
 * each producer and consumer may have an engine and a thread of its own. Callbacks run inside
 * progress of the object's engine. What crosses from thread to thread on the control path is
 * posted; the data path takes no lock, allocates nothing and makes a system call only to wake a
 * peer that sleeps.
 *
 * <p><b>Ownership.</b> The order of making and, reversed, of ending is: device, server or client,
 * connection, producers and consumers. A message handed to a callback is the library's and valid
 * during the call. A buf is the library's from submit to completion.
 *
 * <p><b>Trust.</b> The peer may write anything at any time. What comes from it is copied once to
 * private memory, checked, then used; a peer that breaks the protocol of {@code docs/wire/comch.md}
 * loses its connection and nothing else happens.
 *
 * <p><b>Arguments.</b> What is null where a method does not say that null will do, out of range, or
 * closed already is refused with a {@link io.softdpu.core.DpuException} before anything has
 * changed: INVALID_VALUE, naming the argument, or the status that the method names. No other
 * exception leaves this package, unless a callback of the user threw it.
 */
@NullMarked
package io.softdpu.comch;

import org.jspecify.annotations.NullMarked;
