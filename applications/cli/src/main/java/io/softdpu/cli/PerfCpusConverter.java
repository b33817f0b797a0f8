package io.softdpu.cli;

import io.softdpu.cli.PlanOptions.CpuPair;
import io.softdpu.core.DpuException;
import io.softdpu.perf.pair.PerfCpus;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a pair of processors, or {@code any}. */
final class PerfCpusConverter implements ITypeConverter<CpuPair> {
    /** For picocli. */
    public PerfCpusConverter() {}

    @Override
    public CpuPair convert(String text) {
        try {
            return new CpuPair(text.equals(PerfCpus.ANY) ? null : PerfCpus.of(text));
        } catch (DpuException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
