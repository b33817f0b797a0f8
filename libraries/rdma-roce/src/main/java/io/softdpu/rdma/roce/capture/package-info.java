/**
 * Captures of RoCE v2: reading of pcap files, and the state of connections as their packets show
 * it.
 *
 * <p>Role: start with {@link io.softdpu.rdma.roce.capture.Analysis}, which reads a stream packet by
 * packet, checks each, and notes repeats and gaps. It is for tools: it allocates, but its memory
 * does not grow with the capture.
 *
 * <p>Thread rule: all objects belong to one thread.
 *
 * <p>Ownership: the caller opens and closes the stream. What is returned for a packet is valid
 * until the next one is read.
 */
@NullMarked
package io.softdpu.rdma.roce.capture;

import org.jspecify.annotations.NullMarked;
