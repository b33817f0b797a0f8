package io.softdpu.cli.options;

import io.softdpu.perf.demo.DemoPhase;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses and lists the measurements of a demo, in lower case with hyphens. */
public final class MeasuredConverter implements ITypeConverter<DemoPhase>, Iterable<String> {
    @Override
    public DemoPhase convert(String text) {
        return measurements().stream()
                .filter(phase -> phase.word().equals(text))
                .findFirst()
                .orElseThrow(() ->
                        new TypeConversionException(
                                "no such measurement: measurement="
                                        + text
                                        + ", expected=one of "
                                        + String.join(", ", this)));
    }

    /** All of them. */
    @Override
    public Iterator<String> iterator() {
        return measurements().stream().map(DemoPhase::word).iterator();
    }

    private static List<DemoPhase> measurements() {
        return Arrays.stream(DemoPhase.values()).filter(DemoPhase::isMeasured).toList();
    }
}
