/**
 * Choice of the devices of a measurement from a topology; start with {@link
 * io.softdpu.perf.card.ComchPair}.
 *
 * <p>The values are immutable; any thread.
 */
@NullMarked
package io.softdpu.perf.card;

import org.jspecify.annotations.NullMarked;
