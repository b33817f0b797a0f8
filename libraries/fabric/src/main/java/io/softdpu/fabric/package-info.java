/**
 * The PCIe bus in software. A {@link io.softdpu.fabric.Bus} joins a process to a fabric folder and
 * stands for the hardware: it accepts, runs handshakes under a deadline, hands out descriptors of
 * exported regions, checks those that come in, and notices the end of a peer. It is made of the
 * packages below, each of which knows only those before it:
 *
 * <ol>
 *   <li>{@code error}: failures and their codes
 *   <li>{@code wire}: frames and addresses, as bytes
 *   <li>{@code folder}: files and locks of the fabric folder
 *   <li>{@code thread}: the bus thread, mapping workers, closing threads
 *   <li>{@code link}: doorbells, and the sleep of an engine that they end
 *   <li>{@code memory}: memory that is shared, or mapped for a peer
 *   <li>{@code region}: memory that is exported, leased and revoked
 *   <li>{@code handshake}: how two processes come to a link, and what each is given
 * </ol>
 *
 * <p>Beside them stand {@code engine}, what an engine's thread does for itself, and {@code ring},
 * the layout of rings in memory that a handshake has given.
 *
 * <p><b>Threads.</b> Any thread calls a bus. What waits for a socket runs on the bus thread; its
 * results are futures and listener calls, which only post to an engine's mailbox. The data path
 * (doorbells, looks for a revocation, rings) belongs to the engine that polls, takes no lock and
 * allocates nothing.
 *
 * <p><b>Ownership.</b> The bus owns its threads and its place in the folder. Regions, links and
 * memory belong to the caller they were handed to, and the end of the bus ends regions and links.
 *
 * <p><b>Trust.</b> The peer may send anything at any time. Whatever arrives is copied once,
 * checked, then used; the bytes are described in {@code docs/wire/fabric.md}.
 */
@NullMarked
package io.softdpu.fabric;

import org.jspecify.annotations.NullMarked;
