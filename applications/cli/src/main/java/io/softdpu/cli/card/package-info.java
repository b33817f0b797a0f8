/**
 * The card as the command shows and chooses it: the topology as a tree, and what the devices can do
 * as a table and as JSON. Pure but for {@link io.softdpu.cli.card.TopologyOption}, which reads a
 * file.
 */
@NullMarked
package io.softdpu.cli.card;

import org.jspecify.annotations.NullMarked;
