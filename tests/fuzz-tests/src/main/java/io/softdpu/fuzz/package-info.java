/**
 * Fuzz targets, one per parser of bytes that a peer may have written: handshakes, blobs, control
 * messages, io_messages, slots of rings. {@code bin/fuzz} searches; every build replays what was
 * found.
 *
 * <p>A target states what holds for all bytes: a value that encodes to the same bytes again, or the
 * refusal that is documented, and nothing else.
 */
@NullMarked
package io.softdpu.fuzz;

import org.jspecify.annotations.NullMarked;
