/**
 * Linux system calls that softdpu needs, one class per family.
 *
 * <p><b>Role.</b> The classes are thin: they bind a symbol of libc, pass the arguments on, and turn
 * a failure into a {@link io.softdpu.linux.LinuxException} that names the call, the error and the
 * object. They contain no policy. An ordinary failure (nothing pending, no listener, the socket is
 * full) is a result of the method, and not thrown. The differences between x86-64 and aarch64 are
 * in one table, {@code Abi}.
 *
 * <p><b>Descriptors and addresses are plain numbers.</b> They belong to the caller that got them
 * from a method here, which closes or unmaps them once. The classes keep no list of them, unless
 * {@link io.softdpu.linux.Origins} is enabled to find leaks. Every descriptor is created
 * close-on-exec; every socket and eventfd is also non-blocking. Addresses are not checked: a wrong
 * one crashes the JVM, which is why this package is exported to named modules only.
 *
 * <p><b>Threads.</b> Static methods may be called from any thread. {@link io.softdpu.linux.Epoll},
 * {@link io.softdpu.linux.ReceivedMessage} and the batches of {@link io.softdpu.linux.UdpSocket}
 * own native buffers and say which of their methods belong to one thread at a time; so does {@link
 * io.softdpu.linux.Uring}, whose requests end with the thread that has submitted them.
 *
 * <p><b>Allocation.</b> Waking and waiting ({@code ring}, {@code signal}, {@code drain}, {@code
 * await}, a change of interest, an armed timer), datagrams, requests to a ring and copying allocate
 * nothing where they succeed: these calls are made without errno, and one that fails is repeated
 * with it. The other calls capture errno in native memory that each thread keeps; until C2 has
 * compiled the caller, that costs an object of 40 bytes per call.
 */
@NullMarked
package io.softdpu.linux;

import org.jspecify.annotations.NullMarked;
