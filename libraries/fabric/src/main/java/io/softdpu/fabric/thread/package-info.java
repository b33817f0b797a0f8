/**
 * The threads of a bus. The bus thread stands for the hardware: it runs handlers of descriptors and
 * deadlines, and commands. Mapping workers and closing threads do work whose duration a peer
 * determines. None of them depends on frames or regions.
 *
 * <p><b>Threads.</b> Any thread submits work. {@link io.softdpu.fabric.thread.BusWatch} and the
 * handlers belong to the bus thread, where a handler never blocks.
 *
 * <p><b>Ownership.</b> {@link io.softdpu.fabric.thread.BusThreads} holds one of each kind for one
 * bus and ends them with it. A descriptor that is handed to the closer belongs to the closer.
 *
 * <p><b>Trust.</b> Closing a descriptor or unmapping memory of a peer may block without limit. The
 * number of threads that block is limited, and peers take turns.
 */
@NullMarked
package io.softdpu.fabric.thread;

import org.jspecify.annotations.NullMarked;
