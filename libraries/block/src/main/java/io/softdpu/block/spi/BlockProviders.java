package io.softdpu.block.spi;

import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.ForeignText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Providers of block devices by the scheme of a URI. Any thread. */
public final class BlockProviders {
    /** Scheme of a URI that is a path alone. */
    private static final String OF_PATHS = "copy";

    private static final Pattern SCHEME =
            Pattern.compile("([A-Za-z][A-Za-z0-9]*):(.*)", Pattern.DOTALL);

    private BlockProviders() {}

    /**
     * Opens a device by its URI: a word before a colon is a scheme; what has none is a path. A path
     * with a colon in its first name is written {@code ./a:b}.
     *
     * @param blockSizeBytes the size of a block: a power of two from 512 to 1 MiB
     * @throws io.softdpu.block.property.BlockUriException naming the known forms, for an unknown
     *     scheme or a wrong option
     * @throws io.softdpu.core.DpuException INVALID_VALUE for an illegal size of a block; else as
     *     the provider refuses
     */
    public static ProviderDevice open(String uri, int blockSizeBytes) {
        Arguments.notNull(uri, "uri");
        BlockProperties.requireBlockSize(blockSizeBytes);
        List<BlockProvider> providers = new ArrayList<>();
        ServiceLoader.load(BlockProvider.class, BlockProviders.class.getClassLoader())
                .forEach(providers::add);
        providers.sort(Comparator.comparing(BlockProvider::scheme));
        String forms =
                providers.stream().map(BlockProvider::form).collect(Collectors.joining(", "))
                        + ", or the PATH of a file to copy, as ./a:b if it has a colon";
        Matcher matcher = SCHEME.matcher(uri);
        boolean hasScheme = matcher.matches();
        String scheme = hasScheme ? matcher.group(1) : OF_PATHS;
        DeviceUri divided =
                new DeviceUri(uri, hasScheme ? matcher.group(2) : uri, blockSizeBytes, forms);
        for (BlockProvider provider : providers) {
            if (provider.scheme().equals(scheme)) {
                return provider.open(divided);
            }
        }
        throw divided.refused("no such scheme, scheme=" + ForeignText.escapeAndCut(scheme));
    }
}
