/**
 * Captures of RoCE v2: writing and reading of pcap files, and the state of connections as their
 * packets show it.
 *
 * <p>Role: start with {@link io.softdpu.rdma.roce.capture.Analysis}, which reads a stream packet by
 * packet, checks each, and notes repeats and gaps. It is for tools: it allocates, but its memory
 * does not grow with the capture. {@link io.softdpu.rdma.roce.capture.CaptureWriter} writes a file
 * for the NICs of the process.
 *
 * <p>Thread rule: all objects belong to one thread, but a writer, which any thread may use.
 *
 * <p>Ownership: a writer has its file. Of what is read the caller opens and closes the stream; what
 * is returned for a packet is valid until the next one is read.
 */
@NullMarked
package io.softdpu.rdma.roce.capture;

import org.jspecify.annotations.NullMarked;
