package io.softdpu.storage.worker;

import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.WaitMode;

/**
 * Index of a worker within its session, the CPU binding of its thread, and the way it waits.
 *
 * @param index counted from 0
 * @param cpu CPU binding of the worker's thread
 * @param waitMode what the thread does in the data path while there is no work
 */
public record WorkerSlot(int index, CpuBinding cpu, WaitMode waitMode) {}
