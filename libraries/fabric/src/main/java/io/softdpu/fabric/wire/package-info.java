/**
 * Wire formats: frames of the handshake and addresses of regions. Bytes in, values out; nothing
 * here does input or output, waits or reads a clock.
 *
 * <p><b>Threads.</b> Immutable values; any thread. <b>Ownership.</b> Arrays of a frame belong to
 * its holder.
 *
 * <p><b>Trust.</b> The bytes are untrusted. They are copied once and checked as a whole, so that a
 * decoded value is legal; its meaning must be checked by its user.
 */
@NullMarked
package io.softdpu.fabric.wire;

import org.jspecify.annotations.NullMarked;
