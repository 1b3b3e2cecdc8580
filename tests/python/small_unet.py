"""A small U-Net in either library."""


def make_unet(library):
    """Down, up by interpolation and by a transposed convolution, and joined again, over ocl or torch."""
    nn = library.nn

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
            self.down = nn.Sequential(
                nn.Conv2d(8, 16, 3, 2, 1), nn.InstanceNorm2d(16, affine=True), nn.GELU()
            )
            self.up = nn.ConvTranspose2d(16, 8, 3, 2, 1, output_padding=1)
            self.last = nn.Conv2d(16, 4, 3, padding=1, padding_mode="reflect")

        def forward(self, x):
            fine = self.first(x)
            joined = library.cat([fine, self.up(self.down(fine))], 1)
            return nn.functional.interpolate(self.last(joined), scale_factor=2, mode="bilinear")

    return UNet()
