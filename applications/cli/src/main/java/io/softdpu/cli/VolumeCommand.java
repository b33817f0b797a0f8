package io.softdpu.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.property.BlockUriException;
import io.softdpu.cli.options.SizeConverter;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.text.TextTable;
import io.softdpu.storage.StorageDefaults;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softdpu storage volume}: prints the properties of a block device. */
@Command(
        name = "volume",
        description = {
            "Opens a volume, prints its properties, and closes it.",
            "As JSON an object with the same values.",
            SizeConverter.HELP
        },
        footerHeading = Examples.HEADING,
        footer = {
            "  softdpu storage volume memory:64MiB",
            "  softdpu storage volume disk.img --json -"
        })
final class VolumeCommand implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "URI",
            description = {
                "The volume: memory:SIZE, copy:FILE or FILE, file:FILE?OPTIONS, null:SIZE. A file"
                        + " with a colon in its name is ./a:b."
            })
    private String uri = "";

    @Option(
            names = "--block-size",
            paramLabel = "SIZE",
            converter = SizeConverter.class,
            defaultValue = "" + StorageDefaults.BLOCK_SIZE_BYTES,
            description = "Size of a block, a power of two (default: ${DEFAULT-VALUE}).")
    private long blockSize;

    @Mixin private final JsonOption json = new JsonOption();

    @Override
    public Integer call() {
        CommandLine command = Objects.requireNonNull(spec).commandLine();
        int blockSizeBytes = BlockSize.check(command, blockSize);
        json.check(command);
        PrintWriter out = command.getOut();
        try (BlockDevice device = BlockDevice.open(uri, blockSizeBytes)) {
            if (!json.isStandardOutput()) {
                table(device).lines().forEach(out::println);
            }
            json.write(toJson(device), out);
        } catch (BlockUriException e) {
            throw new ParameterException(command, Reason.of(e), e);
        }
        return ExitCode.OK.code();
    }

    private static TextTable table(BlockDevice device) {
        BlockProperties properties = device.properties();
        TextTable table = TextTable.ofWords("PROPERTY", "VALUE");
        table.add("description", properties.description());
        table.add("method", device.method());
        table.add("size_bytes", Long.toString(properties.sizeBytes()));
        table.add("block_size_bytes", Integer.toString(properties.blockSizeBytes()));
        table.add("preferred_request_bytes", Long.toString(properties.preferredRequestBytes()));
        table.add("max_request_bytes", Long.toString(properties.maxRequestBytes()));
        table.add("memory_alignment_bytes", Integer.toString(properties.memoryAlignmentBytes()));
        table.add(
                "features",
                properties.features().stream()
                        .map(BlockFeature::name)
                        .collect(Collectors.joining(", ")));
        table.add("identity", device.identity().toString());
        return table;
    }

    private static ObjectNode toJson(BlockDevice device) {
        BlockProperties properties = device.properties();
        ObjectNode volume = JsonNodeFactory.instance.objectNode();
        volume.put("description", properties.description());
        volume.put("method", device.method());
        volume.put("size_bytes", properties.sizeBytes());
        volume.put("block_size_bytes", properties.blockSizeBytes());
        volume.put("preferred_request_bytes", properties.preferredRequestBytes());
        volume.put("max_request_bytes", properties.maxRequestBytes());
        volume.put("memory_alignment_bytes", properties.memoryAlignmentBytes());
        ArrayNode features = volume.putArray("features");
        properties.features().forEach(feature -> features.add(feature.name()));
        volume.put("identity", device.identity().toString());
        return volume;
    }
}
