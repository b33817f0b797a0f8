/**
 * Linux, as much of it as softdpu needs, one class a family of system calls.
 *
 * <p><b>Role.</b> The classes are thin: they bind a symbol of libc, pass the arguments on, and turn
 * a failure into a {@link io.softdpu.linux.LinuxException} that names the call, the error and the
 * object. They decide nothing that a caller could decide better. Where a failure is an ordinary
 * answer (nothing pending, nobody listens, the socket is full), the method's result says so and
 * nothing is thrown. What differs between x86-64 and aarch64 stands in one table, {@code Abi}.
 *
 * <p><b>Descriptors and addresses are plain numbers.</b> They belong to whoever got them from a
 * method here; that one closes or unmaps them, once. The classes keep no list of them, unless
 * {@link io.softdpu.linux.Origins} is switched on to find leaks. Every descriptor is created
 * close-on-exec; every socket and eventfd is also non-blocking. Addresses are not checked: a wrong
 * one ends the JVM, which is why this package is exported to named modules only.
 *
 * <p><b>Threads.</b> Static methods may be called from any thread. {@link io.softdpu.linux.Epoll}
 * and {@link io.softdpu.linux.ReceivedMessage} own native buffers and say which of their methods
 * belong to one thread at a time.
 *
 * <p><b>Allocation.</b> The calls of a data path ({@code ring}, {@code drain}, {@code await},
 * {@code signal}, {@code copy}, {@code pread} and their like) allocate nothing once their thread
 * has made a first call: errno and small results land in native memory that a thread keeps.
 */
@NullMarked
package io.softdpu.linux;

import org.jspecify.annotations.NullMarked;
