package io.softdpu.block.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** URIs of block devices. */
class BlockProvidersTest {
    private static final int BLOCK = 512;

    private static long sizeOf(String uri) {
        try (ProviderDevice device = BlockProviders.open(uri, BLOCK)) {
            assertThat(device.properties().blockSizeBytes()).isEqualTo(BLOCK);
            return device.properties().sizeBytes();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "512, 512",
        "512B, 512",
        "1K, 1024",
        "1KiB, 1024",
        "3kb, 3072",
        "1MiB, 1048576",
        "2m, 2097152"
    })
    void shouldReadSizes(String text, long bytes) {
        assertThat(sizeOf("null:" + text)).isEqualTo(bytes);
        assertThat(sizeOf("memory:" + text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({
        "1G, 1073741824",
        "1TiB, 1099511627776",
        "9223372036854775296, 9223372036854775296"
    })
    void shouldReadLargeSizes(String text, long bytes) {
        assertThat(sizeOf("null:" + text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0",
                "-512",
                "+512",
                "513",
                "64Q",
                "1.5K",
                " 512",
                "512 ",
                "K",
                "0x200",
                "99999999999999999999",
                "9223372036854775807K",
                "9223372036854775807",
                "١",
                "512?direct",
                "512:512"
            })
    void shouldRefuseWhatIsNoSizeAndNameTheForms(String text) {
        for (String scheme : new String[] {"memory", "null"}) {
            refuses(
                    scheme + ":" + text,
                    Status.INVALID_VALUE,
                    "size",
                    "memory:SIZE",
                    "copy:PATH",
                    "null:SIZE",
                    "./a:b");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"fiel:x", "http://x", "MEMORY:512", "a1:", "Null:512"})
    void shouldTakeAWordBeforeAColonForAScheme(String uri) {
        refuses(uri, Status.INVALID_VALUE, "no such scheme", "memory:SIZE", "./a:b");
    }

    @Test
    void shouldTakeEverythingElseForAPath(@TempDir Path folder) throws IOException {
        Path withColon = Files.write(folder.resolve("a:b"), new byte[2 * BLOCK]);

        assertThat(sizeOf(withColon.toString())).isEqualTo(2 * BLOCK);
        assertThat(sizeOf("copy:" + withColon)).isEqualTo(2 * BLOCK);
        refuses("./no-such-folder/a:b", Status.NOT_FOUND, "./no-such-folder/a:b");
        refuses("no-such-file", Status.NOT_FOUND, "no-such-file");
        refuses("1:x", Status.NOT_FOUND, "1:x");
        refuses("-a:x", Status.NOT_FOUND, "-a:x");
    }

    @Test
    void shouldRefuseAnEmptyPath() {
        refuses("", Status.INVALID_VALUE, "path is empty", "memory:SIZE");
        refuses("copy:", Status.INVALID_VALUE, "path is empty", "memory:SIZE");
    }

    @Test
    void shouldCutAndEscapeWhatItNames() {
        refuses("memory:\n" + "9".repeat(5000), Status.INVALID_VALUE, "\\n");
        for (String uri : new String[] {"memory:" + "9".repeat(5000), "x".repeat(5000) + ":512"}) {
            assertThatThrownBy(() -> BlockProviders.open(uri, BLOCK))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            refused -> assertThat(refused.getMessage()).hasSizeLessThan(1500));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 256, 513, 2 << 20, Integer.MIN_VALUE})
    void shouldRefuseAnIllegalSizeOfABlock(int blockSizeBytes) {
        assertThatThrownBy(() -> BlockProviders.open("null:1G", blockSizeBytes))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> {
                            assertThat(refused.status()).isEqualTo(Status.INVALID_VALUE);
                            assertThat(refused.getMessage())
                                    .contains("blockSizeBytes=" + blockSizeBytes, "512");
                        });
    }

    private static void refuses(String uri, Status status, String... named) {
        assertThatThrownBy(() -> BlockProviders.open(uri, BLOCK))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> {
                            assertThat(refused.status()).as(refused.getMessage()).isEqualTo(status);
                            assertThat(refused.getMessage()).contains(named);
                        });
    }
}
