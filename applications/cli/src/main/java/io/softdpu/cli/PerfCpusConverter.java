package io.softdpu.cli;

import io.softdpu.core.DpuException;
import io.softdpu.perf.comch.PerfCpus;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a pair of processors. */
final class PerfCpusConverter implements ITypeConverter<PerfCpus> {
    /** For picocli. */
    public PerfCpusConverter() {}

    @Override
    public PerfCpus convert(String text) {
        try {
            return PerfCpus.of(text);
        } catch (DpuException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
