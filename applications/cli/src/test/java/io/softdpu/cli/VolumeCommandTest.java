package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.softdpu.testkit.OwnFabric;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link VolumeCommand}, and of URIs that the target refuses. */
@ExtendWith(OwnFabric.class)
class VolumeCommandTest {
    @TempDir private Path folder;

    @Test
    void shouldPrintAllPropertiesOfAVolume() {
        Run run = Run.ofWords("storage volume memory:64MiB --block-size 512");

        assertThat(run.errorLines()).isEmpty();
        assertThat(run.exit()).isZero();
        assertThat(run.outputLines())
                .anyMatch(line -> line.matches("description +memory:67108864"))
                .anyMatch(line -> line.matches("size_bytes +67108864"))
                .anyMatch(line -> line.matches("block_size_bytes +512"))
                .anyMatch(line -> line.matches("preferred_request_bytes +1048576"))
                .anyMatch(line -> line.matches("max_request_bytes +33554432"))
                .anyMatch(line -> line.matches("memory_alignment_bytes +1"))
                .anyMatch(line -> line.matches("features +FLUSH, FUA, DISCARD, WRITE_ZEROES"))
                .anyMatch(line -> line.matches("identity +[0-9a-f-]{32,36}"));
    }

    @Test
    void shouldPrintThePropertiesOfACopyAsJson() throws Exception {
        Path file = Files.write(folder.resolve("disk"), new byte[8192]);

        Run run = Run.of("storage", "volume", file.toString(), "--json", "-");

        assertThat(run.exit()).isZero();
        JsonNode volume = new ObjectMapper().readTree(String.join("\n", run.outputLines()));
        assertThat(volume.get("description").asText()).isEqualTo("copy:" + file);
        assertThat(volume.get("size_bytes").asLong()).isEqualTo(8192);
        assertThat(volume.get("block_size_bytes").asInt()).isEqualTo(4096);
        assertThat(volume.get("features")).hasSize(4);
        assertThat(volume.get("identity").asText()).isNotEmpty();
        assertThat(volume.get("method").asText()).isEqualTo("engine");
        assertThat(volume.size()).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(strings = {"fiel:x", "memory:64Q", "null:0", "copy:"})
    void shouldNameTheFormsForAWrongUri(String uri) {
        Run run = Run.of("storage", "volume", uri);

        run.assertRefused("URI of a block device is refused");
        assertThat(run.errorLines().getFirst())
                .contains("uri=" + uri, "copy:PATH", "memory:SIZE", "null:SIZE", "./a:b");
    }

    @Test
    void shouldFailForAFileThatIsNoVolume() {
        Run run = Run.of("storage", "volume", folder.resolve("nothing").toString());

        assertThat(run.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(run.errorLines().getFirst())
                .startsWith("softdpu: NOT_FOUND: volume file is refused: file=" + folder);
    }

    @Test
    void shouldRefuseAUriOfATargetAsAnyOtherOption() {
        Run run = target("fiel:x");

        run.assertRefused("URI of a block device is refused: option=--volume, reason=no such");
        assertThat(run.errorLines().getFirst()).contains("scheme=fiel", "memory:SIZE");
    }

    @Test
    void shouldNameTheOptionWhereAVolumeIsNotStagedInItsMemory() {
        Run run = target("null:1MiB", "--staging-size", "1023KiB");

        assertThat(run.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(run.errorLines())
                .anyMatch(line ->
                        line.startsWith(
                                "softdpu: NO_MEMORY: memory for staging is too small for a piece"
                                        + " of a request: stagingBytes=1047552,"
                                        + " volume=null:1048576, expected=--staging-size 1048576"));
    }

    private static Run target(String uri, String... more) {
        Stream<String> words =
                Stream.of("storage target -d t0 --cpu any --listen-port 0".split(" "));
        Stream<String> options = Stream.concat(Stream.of("--volume", uri), Stream.of(more));
        return Run.of(Stream.concat(words, options).toArray(String[]::new));
    }
}
