/**
 * The PCIe bus in software. A {@link io.softdpu.fabric.Bus} joins a process to a fabric folder and
 * stands for the hardware: it accepts connections, runs handshakes under a deadline, sends
 * descriptors of exported regions, validates received ones, and detects the end of a peer. It
 * consists of the packages below, each of which uses only those before it:
 *
 * <ol>
 *   <li>{@code error}: failures and their codes
 *   <li>{@code wire}: frames and addresses, as bytes
 *   <li>{@code folder}: files and locks of the fabric folder
 *   <li>{@code thread}: the bus thread, mapping workers, closing threads
 *   <li>{@code link}: doorbells, and the poller in which an engine sleeps
 *   <li>{@code memory}: memory that is shared, or mapped for a peer
 *   <li>{@code region}: memory that is exported, leased and revoked
 *   <li>{@code handshake}: establishment of links and leases between two processes
 * </ol>
 *
 * <p>Beside them are {@code engine}, services for an engine's thread, and {@code ring}, the rings
 * in shared memory.
 *
 * <p><b>Threads.</b> Any thread calls a bus. Work that waits for a socket runs on the bus thread;
 * its results are futures and listener calls, which only post to an engine's mailbox. The data path
 * (doorbells, checks for a revocation, rings) belongs to the engine that polls, takes no lock and
 * allocates nothing.
 *
 * <p><b>Ownership.</b> The bus owns its threads and its files in the folder. Regions, links and
 * memory belong to the caller that received them; closing the bus ends regions and links.
 *
 * <p><b>Trust.</b> The peer may send anything at any time. Received data is copied once, validated,
 * then used; the formats are in {@code docs/wire/fabric.md}.
 */
@NullMarked
package io.softdpu.fabric;

import org.jspecify.annotations.NullMarked;
