/**
 * JUnit extension for tests of programs that use softdpu. A test method that takes a {@link
 * io.softdpu.junit.SoftDpu} gets a card of its own: host, DPU and target side in this JVM, over a
 * fabric folder that no other test uses, with the sanitizer on. Further processes of the same card
 * are {@linkplain io.softdpu.junit.SoftDpu#start started} from it. The test fails if it leaves
 * something open, if the sanitizer has found a mistake, or if a process has failed, and each
 * failure names the seed that repeats it.
 *
 * <p>Start with {@link io.softdpu.junit.SoftDpuTest}, or with {@link
 * io.softdpu.junit.SoftDpuExtension#builder()} for a topology or a seed of your own. It works with
 * JUnit 5 and 6, and with tests that run in parallel.
 *
 * <p>Threads: a card belongs to one test; its methods may be called by any thread of that test,
 * except as documented. Ownership: the card closes what it has opened, and what was given to {@link
 * io.softdpu.junit.SoftDpu#closeAfterTest}; the test closes what it has opened itself.
 */
@NullMarked
package io.softdpu.junit;

import org.jspecify.annotations.NullMarked;
