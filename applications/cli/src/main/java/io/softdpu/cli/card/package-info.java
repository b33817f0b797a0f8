/**
 * Display and selection of the card and of an RDMA provider: the topology as a tree, and the
 * capabilities of the devices as a table and as JSON. No side effects except in {@link
 * io.softdpu.cli.card.TopologyOption}, which reads a file.
 */
@NullMarked
package io.softdpu.cli.card;

import org.jspecify.annotations.NullMarked;
