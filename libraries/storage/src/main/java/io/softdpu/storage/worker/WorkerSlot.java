package io.softdpu.storage.worker;

import io.softdpu.core.execution.CpuBinding;

/**
 * Index of a worker within its session, and the CPU binding of its thread.
 *
 * @param index counted from 0
 * @param cpu CPU binding of the worker's thread
 */
public record WorkerSlot(int index, CpuBinding cpu) {}
