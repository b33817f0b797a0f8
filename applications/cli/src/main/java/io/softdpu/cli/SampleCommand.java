package io.softdpu.cli;

import io.softdpu.cli.card.DeviceNames;
import io.softdpu.cli.card.NetworkOptions;
import io.softdpu.cli.card.TopologyOption;
import io.softdpu.cli.options.SecondsConverter;
import io.softdpu.core.DpuException;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.rdma.Rdma;
import io.softdpu.samples.Sample;
import io.softdpu.samples.SampleOption;
import io.softdpu.samples.SampleSettings;
import io.softdpu.samples.SampleUsageException;
import io.softdpu.samples.Samples;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code softdpu sample}: a group with a command for each sample, which has the options of the
 * sample.
 */
@Command(
        name = "sample",
        description = {
            "Runs a small program that shows one way of working.",
            "--list says what each shows, and what to look at in its output and its source. The"
                    + " sources are in applications/samples/src/main/java/io/softdpu/samples.",
            "Each checks the data that it has copied, and exits with 3 if it is wrong."
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu sample --list",
            "  softdpu sample pe-polling",
            "  softdpu sample pe-polling --help"
        })
final class SampleCommand implements Callable<Integer> {
    /** Name of the option that the RDMA samples have. */
    private static final String PROVIDER = "provider";

    @Spec private @Nullable CommandSpec spec;

    @Option(names = "--list", description = "Print the samples, and what to look at in each.")
    private boolean list;

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        if (!list) {
            throw Errors.missingSubcommand(command);
        }
        PrintWriter out = command.getOut();
        String separator = "";
        for (Sample sample : Samples.all()) {
            out.print(separator);
            separator = System.lineSeparator();
            out.println(sample.name());
            out.println("  " + sample.summary());
            out.println("  Output: " + sample.output());
            out.println("  Source: " + sourceOf(sample) + ": " + sample.source());
        }
        return ExitCode.OK.code();
    }

    /** Adds a command for each sample. */
    static void addSamples(CommandLine group) {
        for (Sample sample : Samples.all()) {
            group.addSubcommand(sample.name(), specOf(sample));
        }
    }

    private static CommandSpec specOf(Sample sample) {
        OneSample command = new OneSample(sample);
        CommandSpec spec = CommandSpec.wrapWithoutInspection(command);
        command.spec = spec;
        spec.name(sample.name());
        spec.usageMessage()
                .description(
                        sample.summary(),
                        "Output: " + sample.output(),
                        "Source: " + sourceOf(sample) + ": " + sample.source())
                .footerHeading(Examples.HEADING)
                .footer(examplesOf(sample));
        spec.addMixin("topology", CommandSpec.forAnnotatedObject(command.topology));
        if (command.usesRdma()) {
            spec.addMixin("network", CommandSpec.forAnnotatedObject(command.network));
        }
        for (SampleOption option : sample.options()) {
            spec.addOption(specOf(option));
        }
        return spec;
    }

    /** Example calls, in two lines where they have arguments: no line may be too long. */
    private static String[] examplesOf(Sample sample) {
        String call = "  softdpu sample " + sample.name();
        return sample.exampleArguments().isEmpty()
                ? new String[] {call}
                : sample.exampleArguments().stream()
                        .flatMap(arguments -> Stream.of(call + " \\", "    " + arguments))
                        .toArray(String[]::new);
    }

    /** The file with the source, in the folder that the help of the group names. */
    private static String sourceOf(Sample sample) {
        return sample.getClass().getSimpleName() + ".java";
    }

    private static OptionSpec specOf(SampleOption option) {
        String longName = "--" + option.longName();
        String[] names =
                option.shortName() == null
                        ? new String[] {longName}
                        : new String[] {"-" + option.shortName(), longName};
        OptionSpec.Builder builder =
                OptionSpec.builder(names)
                        .required(option.required())
                        .description(option.description() + ".");
        if (option.label() == null) {
            return builder.type(boolean.class).build();
        }
        builder.paramLabel(option.label());
        if (option.longName().equals(SampleOption.DEVICE.longName())) {
            builder.completionCandidates(new DeviceNames());
        }
        return option.equals(SampleOption.TIMEOUT)
                ? builder.type(Duration.class).converters(new SecondsConverter()).build()
                : builder.type(String.class).build();
    }

    /** {@code softdpu sample NAME}: runs one sample. */
    private static final class OneSample implements Callable<Integer> {
        private final Sample sample;
        private final TopologyOption topology = new TopologyOption();
        private final NetworkOptions network = new NetworkOptions();
        private @Nullable CommandSpec spec;

        OneSample(Sample sample) {
            this.sample = sample;
        }

        /** Whether it has the option of the RDMA provider. */
        boolean usesRdma() {
            return sample.options().stream().anyMatch(option -> option.longName().equals(PROVIDER));
        }

        @Override
        public Integer call() {
            Map<SampleOption, String> given = new HashMap<>();
            for (SampleOption option : sample.options()) {
                OptionSpec parsed =
                        Objects.requireNonNull(spec).findOption("--" + option.longName());
                if (!parsed.originalStringValues().isEmpty()) {
                    given.put(option, parsed.originalStringValues().getLast());
                }
            }
            SampleSettings settings = new SampleSettings(topology.load(), given);
            try (NetworkOptions.Use _ = NetworkOptions.use(provider(given), true)) {
                sample.run(settings, System.out);
            } catch (SampleUsageException e) {
                throw new ParameterException(
                        Objects.requireNonNull(spec).commandLine(), Reason.of(e), e);
            }
            return ExitCode.OK.code();
        }

        private ProviderChoice provider(Map<SampleOption, String> given) {
            String name =
                    given.entrySet().stream()
                            .filter(each -> each.getKey().longName().equals(PROVIDER))
                            .map(Map.Entry::getValue)
                            .findFirst()
                            .orElse(Rdma.ANY_PROVIDER);
            try {
                return network.with(new ProviderChoice(name));
            } catch (DpuException e) {
                throw new ParameterException(
                        Objects.requireNonNull(spec).commandLine(),
                        String.valueOf(e.getMessage()),
                        e);
            }
        }
    }
}
