package io.softdpu.cli.options;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.CpuBinding;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the CPU affinity of a data path thread: see {@link CpuBinding#of}. */
public final class CpuConverter implements ITypeConverter<CpuBinding> {
    /** For picocli. */
    public CpuConverter() {}

    @Override
    public CpuBinding convert(String text) {
        try {
            return CpuBinding.of(text);
        } catch (DpuException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
