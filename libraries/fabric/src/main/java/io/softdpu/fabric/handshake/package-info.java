/**
 * Handshakes, which establish links between two processes: one frame from the client and one reply,
 * with the memory that each sends to the other. {@link io.softdpu.fabric.handshake.Handshakes}
 * begins them for a bus; an {@link io.softdpu.fabric.handshake.Import} is what a client gets by
 * one.
 *
 * <p><b>Threads.</b> A handshake runs on the bus thread from beginning to end; its listener or
 * future is called there and only posts to an engine. An {@link
 * io.softdpu.fabric.handshake.Endpoint} is closed, and a {@link
 * io.softdpu.fabric.handshake.PendingLink} decided, by any thread.
 *
 * <p><b>Ownership.</b> Until its end a handshake owns socket, received descriptors and mapped
 * memory; then the link and the memory belong to the caller that has the result, or are released.
 *
 * <p><b>Trust.</b> Peers of another user are refused. A client must send one frame before a
 * deadline; the number of clients that have not, the memory that they send and the descriptors of
 * their frames are limited, and a flood displaces only itself.
 */
@NullMarked
package io.softdpu.fabric.handshake;

import org.jspecify.annotations.NullMarked;
