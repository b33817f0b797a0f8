/**
 * The threads of a bus. The bus thread stands for the hardware: it runs handlers of descriptors and
 * deadlines, and commands. Mapping workers and closing threads do what takes as long as a peer
 * chooses. None of them knows frames or regions.
 *
 * <p><b>Threads.</b> Any thread hands work over. {@link io.softdpu.fabric.thread.BusWatch} and the
 * handlers belong to the bus thread, where a handler never blocks.
 *
 * <p><b>Ownership.</b> {@link io.softdpu.fabric.thread.BusThreads} holds one of each kind for one
 * bus and ends them with it. A descriptor that is handed to the closer is the closer's.
 *
 * <p><b>Trust.</b> To close or to unmap what a peer has sent may take for ever. The number of
 * threads that are stuck so is limited, and peers take turns.
 */
@NullMarked
package io.softdpu.fabric.thread;

import org.jspecify.annotations.NullMarked;
