/**
 * Service provider interface of block devices. A {@link io.softdpu.block.spi.BlockProvider} is
 * found by ServiceLoader for the scheme of a URI and opens a {@link
 * io.softdpu.block.spi.ProviderDevice}; a context of that opens a {@link
 * io.softdpu.block.spi.ProviderChannel} and submits {@link io.softdpu.block.spi.BlockRequest}s to
 * it. The context checks states, ranges, limits and memory, and keeps the rule of failed flushes;
 * the provider moves bytes.
 *
 * <p><b>Thread.</b> A provider and its devices are for any thread. A channel belongs to the thread
 * of its engine; one whose requests complete on other threads has a {@link
 * io.softdpu.block.spi.CompletionQueue}.
 *
 * <p><b>Ownership.</b> A request belongs to the channel from its acceptance to its completion, and
 * so does the memory that it names. Between the two nothing is allocated.
 */
@NullMarked
package io.softdpu.block.spi;

import org.jspecify.annotations.NullMarked;
