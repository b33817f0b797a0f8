/**
 * Formats that other processes read: frames of the handshake and addresses of regions. Bytes in,
 * values out; nothing here does input or output, waits or looks at a clock.
 *
 * <p><b>Threads.</b> Immutable values; any thread. <b>Ownership.</b> Arrays of a frame belong to
 * who has the frame.
 *
 * <p><b>Trust.</b> Bytes are a peer's. They are copied once and checked as a whole, so that a
 * decoded value is legal; whether it is true is for its reader to find out.
 */
@NullMarked
package io.softdpu.fabric.wire;

import org.jspecify.annotations.NullMarked;
