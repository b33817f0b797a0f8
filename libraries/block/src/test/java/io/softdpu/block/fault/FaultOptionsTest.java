package io.softdpu.block.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.spi.BlockProviders;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** URIs of devices that fail on demand. */
class FaultOptionsTest {
    private static final int BLOCK = 512;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "seed=7",
                "seed=-1",
                "error=read/IO_FAILED/0.5",
                "error=write-zeroes/FULL/1",
                "error=read/FULL/0,error=write/FULL/0",
                "error=extents/NOT_PERMITTED/1.0",
                "delay=flush/10s",
                "delay=read/1us,delay=discard/2ms",
                "hold=/tmp/no=such,seed=1",
                "corrupt=read/.5,corrupt=write/0.000000001",
                "torn=1",
                "volatile-cache",
                "seed=1,error=read/FULL/0.1,delay=read/1ms,torn=0.1,volatile-cache"
            })
    void shouldOpenADeviceOverAnother(String options) {
        String uri = "fault:" + options + ":memory:4096";
        try (ProviderDevice device = BlockProviders.open(uri, BLOCK)) {
            assertThat(device.properties().sizeBytes()).isEqualTo(4096);
            assertThat(device.properties().blockSizeBytes()).isEqualTo(BLOCK);
            assertThat(device.properties().has(BlockFeature.FUA)).isTrue();
            assertThat(device.properties().description()).isEqualTo(uri);
            assertThat(device.memory()).as("would bypass the faults").isNull();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "eror=read/FULL/1 | no such option, option=eror=read/FULL/1",
                "seed | not a seed",
                "seed=x | not a seed",
                "seed=1,seed=1 | twice",
                "'' | no such option",
                "seed=1, | no such option",
                "volatile-cache=1 | option has a value",
                "error=read/FULL | another form",
                "error=read/FULL/1/1 | another form",
                "error=rea/FULL/1 | no such operation",
                "error=READ/FULL/1 | no such operation",
                "error=read/SUCCESS/1 | no status of a failure",
                "error=read/AGAIN/1 | no status of a failure",
                "error=read/FULL/1.5 | not a rate",
                "error=read/FULL/-1 | not a rate",
                "error=read/FULL/NaN | not a rate",
                "error=read/FULL/1,error=read/IO_FAILED/1 | twice",
                "delay=read/0s | not a delay",
                "delay=read/11s | not a delay",
                "delay=read/5 | not a delay",
                "delay=read | another form",
                "corrupt=flush/1 | no such operation",
                "corrupt=1 | another form",
                "torn=x | not a rate",
                "torn=0.1,torn=0.1 | twice",
                "hold= | name of a file is missing"
            })
    void shouldRefuseAnIllegalOptionAndNameTheForms(String options, String reason) {
        refuses("fault:" + options + ":memory:4096", reason, "option=", "torn=RATE", "memory:SIZE");
    }

    @Test
    void shouldSuggestAnOption() {
        refuses("fault:volatile-cashe:memory:4096", "volatile-cache?");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fault:seed=1 | no URI behind the options",
                "fault:seed=1: | no URI behind the options",
                "fault: | no URI behind the options",
                "fault:seed=1:fiel:x | no such scheme",
                "fault:seed=1:memory:x | not a size",
                "fault:seed=1:fault:seed=1:memory:4096 | cannot wrap another"
            })
    void shouldRefuseWhatIsNoDeviceToWrap(String uri, String reason) {
        refuses(uri, reason, "torn=RATE", "memory:SIZE");
    }

    @Test
    void shouldWrapABarePath(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("content"), new byte[2 * BLOCK]);
        try (ProviderDevice device = BlockProviders.open("fault:seed=1:" + file, BLOCK)) {
            assertThat(device.properties().sizeBytes()).isEqualTo(2 * BLOCK);
        }
    }

    private static void refuses(String uri, String... named) {
        assertThatThrownBy(() -> BlockProviders.open(uri, BLOCK))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> {
                            assertThat(refused.status()).isEqualTo(Status.INVALID_VALUE);
                            assertThat(refused.getMessage()).contains(named);
                        });
    }
}
