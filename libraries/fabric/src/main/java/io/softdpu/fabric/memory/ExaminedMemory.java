package io.softdpu.fabric.memory;

/**
 * Descriptor of a peer's memory that was {@linkplain DescriptorCheck examined} and is to be mapped.
 *
 * @param writable whether to map it writable
 * @param allocatedBytes as {@link DescriptorCheck#verify} has found them
 */
public record ExaminedMemory(
        int descriptor, long sizeBytes, boolean writable, long allocatedBytes) {}
